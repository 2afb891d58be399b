// Draws the skeletons as lines on a 2-D canvas over a metre grid, for browsers without WebGL 2.
(() => {
  "use strict";
  posemill.Drawing2d = class {
    constructor(canvas) {
      this.canvas = canvas;
      this.pen = canvas.getContext("2d");
      if (!this.pen) throw new Error("no canvas");
    }

    begin(theme) {
      this.pen.setTransform(1, 0, 0, 1, 0, 0);
      this.pen.fillStyle = css(theme.back);
      this.pen.fillRect(0, 0, this.canvas.width, this.canvas.height);
    }

    draw(actor, [x, y, width, height], camera, options, theme) {
      const { pen } = this;
      const top = this.canvas.height - y - height;
      const m = camera.matrix(width / height);
      const project = (p) => {
        const w = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
        if (w < 1e-6) return null;
        const px = (m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]) / w;
        const py = (m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13]) / w;
        return [x + (0.5 + 0.5 * px) * width, top + (0.5 - 0.5 * py) * height];
      };
      const stroke = (a, b) => {
        const [p, q] = [project(a), project(b)];
        if (!p || !q) return;
        pen.beginPath(); pen.moveTo(...p); pen.lineTo(...q); pen.stroke();
      };
      pen.save();
      pen.beginPath(); pen.rect(x, top, width, height); pen.clip();
      pen.lineCap = "round";
      pen.lineWidth = 1;
      pen.strokeStyle = css(theme.line);
      const cx = Math.round(camera.target[0]), cz = Math.round(camera.target[2]), n = 5;
      for (let k = -n; k <= n && !options.ghost; k++) {
        stroke([cx + k, actor.ground, cz - n], [cx + k, actor.ground, cz + n]);
        stroke([cx - n, actor.ground, cz + k], [cx + n, actor.ground, cz + k]);
      }
      pen.strokeStyle = css(theme.way);
      pen.lineWidth = 2;
      for (let k = 1; k < actor.way.length && !options.ghost; k++) {
        const flat = (p) => [p[0], actor.ground, p[2]];
        stroke(flat(actor.way[k - 1]), flat(actor.way[k]));
      }
      const { parents, sides } = actor.character;
      pen.lineWidth = Math.max(2, height / 130);
      for (let j = 0; j < parents.length; j++) {
        if (parents[j] < 0) continue;
        const a = actor.position(parents[j]), b = actor.position(j);
        if (Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) > 0.75 * actor.size) continue;
        pen.strokeStyle = css(options.ghost ? theme.line : theme.bones[sides[j]]);
        stroke(a, b);
      }
      pen.restore();
    }
  };
  const css = (c) => `rgb(${c.slice(0, 3).map((v) => Math.round(255 * v)).join(" ")})`;
})();
