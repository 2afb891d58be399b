// Draws the figures with WebGL 2: floor with a metre grid, shadow, skin, skeleton on top.
(() => {
  "use strict";
  const FLOOR = [
    `#version 300 es
    in vec3 position; uniform mat4 view; out vec2 at;
    void main() { at = position.xz; gl_Position = view * vec4(position, 1.0); }`,
    `#version 300 es
    precision highp float;
    in vec2 at; uniform vec2 middle; uniform float reach; uniform vec3 floorColor, lineColor, backColor; out vec4 color;
    float lines(float spacing) {
      vec2 p = at / spacing, w = max(fwidth(p), vec2(1e-5));
      vec2 near = abs(fract(p - 0.5) - 0.5) / w;
      return (1.0 - clamp(min(near.x, near.y), 0.0, 1.0)) * clamp(1.0 - 2.0 * max(w.x, w.y), 0.0, 1.0);
    }
    void main() {
      float fade = smoothstep(1.0, 0.25, length(at - middle) / reach);
      vec3 c = mix(floorColor, lineColor, 0.6 * lines(1.0) + 0.4 * lines(5.0));
      color = vec4(mix(backColor, c, fade), 1.0);
    }`,
  ];
  const SURFACE = [
    `#version 300 es
    in vec3 position, normal, tint; in vec2 texcoord; uniform mat4 view; out vec3 n, c, p; out vec2 uv;
    void main() { n = normal; c = tint; uv = texcoord; p = position; gl_Position = view * vec4(position, 1.0); }`,
    `#version 300 es
    precision highp float;
    in vec3 n, c, p; in vec2 uv;
    uniform vec3 base, light, eye; uniform sampler2D image; uniform float textured; out vec4 color;
    void main() {
      vec3 albedo = base * c;
      if (textured > 0.5) { vec3 t = texture(image, uv).rgb; albedo *= pow(t, vec3(2.2)); }
      vec3 out_ = normalize(eye - p), m = normalize(n);
      if (dot(m, out_) < 0.0) m = -m;
      float key = max(dot(m, light), 0.0), sky = 0.5 + 0.5 * m.y, rim = pow(1.0 - max(dot(m, out_), 0.0), 3.0);
      vec3 lit = albedo * (0.95 * key + mix(vec3(0.20, 0.19, 0.18), vec3(0.42, 0.45, 0.5), sky)) + 0.06 * rim;
      color = vec4(pow(lit, vec3(1.0 / 2.2)), 1.0);
    }`,
  ];
  const FLAT = [
    `#version 300 es
    in vec3 position; uniform mat4 view; uniform vec3 light; uniform float ground, flatten;
    void main() {
      vec3 p = position;
      if (flatten > 0.5) { float t = max(p.y - ground, 0.0) / light.y; p = vec3(p.x - t * light.x, ground + flatten * 0.002, p.z - t * light.z); }
      gl_Position = view * vec4(p, 1.0);
    }`,
    `#version 300 es
    precision highp float;
    uniform vec4 paint; out vec4 color;
    void main() { color = paint; }`,
  ];

  posemill.Drawing3d = class {
    constructor(canvas, lost) {
      const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: false });
      if (!gl) throw new Error("no WebGL 2");
      this.gl = gl;
      this.canvas = canvas;
      canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); lost(); });
      this.floor = this.program(FLOOR);
      this.surface = this.program(SURFACE);
      this.flat = this.program(FLAT);
      this.kept = new Map();
      // Textures that are not decoded yet.
      this.loading = 0;
    }

    program([vertex, fragment]) {
      const { gl } = this;
      const program = gl.createProgram();
      for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, text);
        gl.compileShader(shader);
        if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
        gl.attachShader(program, shader);
      }
      ["position", "normal", "tint", "texcoord"].forEach((name, k) => gl.bindAttribLocation(program, k, name));
      gl.linkProgram(program);
      if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
      const uniforms = {};
      for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
        const { name } = gl.getActiveUniform(program, k);
        uniforms[name] = gl.getUniformLocation(program, name);
      }
      return { program, uniforms };
    }

    buffer(data, dynamic) {
      const { gl } = this;
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, dynamic ? gl.DYNAMIC_DRAW : gl.STATIC_DRAW);
      return buffer;
    }

    texture(address, redraw) {
      const { gl } = this;
      const texture = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 1, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array([255, 255, 255, 255]));
      const image = new Image();
      this.loading += 1;
      image.onerror = () => { this.loading -= 1; redraw(); };
      image.onload = () => {
        this.loading -= 1;
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
        gl.generateMipmap(gl.TEXTURE_2D);
        redraw();
      };
      image.src = address;
      return texture;
    }

    // The buffers of a character, made when it is first drawn.
    of(character, redraw) {
      let own = this.kept.get(character);
      if (own) return own;
      const { gl } = this;
      const meshes = character.meshes.map((mesh) => {
        const colors = mesh.colors || new Uint8Array(3 * mesh.count).fill(255);
        const index = gl.createBuffer();
        const array = gl.createVertexArray();
        gl.bindVertexArray(array);
        const made = {
          array,
          positions: this.buffer(mesh.movedPositions, true),
          normals: this.buffer(mesh.movedNormals, true),
          colors: this.buffer(colors, false),
          texcoords: this.buffer(mesh.texcoords || new Float32Array(2 * mesh.count), false),
          wide: mesh.triangles instanceof Uint32Array,
          corners: mesh.triangles.length,
        };
        const attribute = (buffer, at, size, kind, normalised) => {
          gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
          gl.enableVertexAttribArray(at);
          gl.vertexAttribPointer(at, size, kind, normalised, 0, 0);
        };
        attribute(made.positions, 0, 3, gl.FLOAT, false);
        attribute(made.normals, 1, 3, gl.FLOAT, false);
        attribute(made.colors, 2, 3, gl.UNSIGNED_BYTE, true);
        attribute(made.texcoords, 3, 2, gl.FLOAT, false);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, index);
        gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.triangles, gl.STATIC_DRAW);
        gl.bindVertexArray(null);
        return made;
      });
      own = { meshes, textures: character.textures.map((t) => this.texture(t, redraw)) };
      this.kept.set(character, own);
      return own;
    }

    // Triangles that change with every picture.
    loose(parts, count) {
      const { gl } = this;
      if (!this.looseArray) {
        this.looseArray = gl.createVertexArray();
        gl.bindVertexArray(this.looseArray);
        this.looseBuffers = [0, 1, 2].map((at) => {
          const buffer = gl.createBuffer();
          gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
          gl.enableVertexAttribArray(at);
          gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 0, 0);
          return buffer;
        });
      }
      gl.bindVertexArray(this.looseArray);
      parts.forEach((part, k) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, this.looseBuffers[k]);
        gl.bufferData(gl.ARRAY_BUFFER, part.subarray(0, 3 * count), gl.STREAM_DRAW);
      });
      gl.drawArrays(gl.TRIANGLES, 0, count);
    }

    begin(theme) {
      const { gl, canvas } = this;
      gl.disable(gl.SCISSOR_TEST);
      gl.clearColor(...theme.back, 1);
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    }

    // Draws one actor into a part of the canvas, seen by `camera`.
    draw(actor, [x, y, width, height], camera, options, theme) {
      const { gl } = this;
      gl.enable(gl.SCISSOR_TEST);
      gl.viewport(x, y, width, height);
      gl.scissor(x, y, width, height);
      gl.enable(gl.DEPTH_TEST);
      const view = camera.matrix(width / height);
      const light = camera.light;
      const use = ({ program, uniforms }) => {
        gl.useProgram(program);
        gl.uniformMatrix4fv(uniforms.view, false, view);
        return uniforms;
      };

      const [mx, , mz] = camera.target;
      const reach = 9 * actor.size, ground = actor.ground;
      let u;
      if (!options.ghost) {
        u = use(this.floor);
        gl.uniform2f(u.middle, mx, mz);
        gl.uniform1f(u.reach, reach);
        gl.uniform3fv(u.floorColor, theme.floor);
        gl.uniform3fv(u.lineColor, theme.line);
        gl.uniform3fv(u.backColor, theme.back);
        const corners = [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]];
        this.loose([new Float32Array(corners.flatMap(([a, b]) => [mx + a * reach, ground, mz + b * reach]))], 6);
      }

      if (options.way) this.way(actor, use, theme);

      const own = this.of(actor.character, options.redraw);
      if (options.skin) {
        const meshes = actor.character.meshes;
        own.meshes.forEach((made, k) => {
          for (const [buffer, data] of [[made.positions, meshes[k].movedPositions], [made.normals, meshes[k].movedNormals]]) {
            gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
            gl.bufferSubData(gl.ARRAY_BUFFER, 0, data);
          }
        });
        // The shadow darkens every pixel of the floor once.
        u = use(this.flat);
        gl.uniform3fv(u.light, light);
        gl.uniform1f(u.ground, ground);
        gl.uniform1f(u.flatten, 1);
        gl.uniform4fv(u.paint, theme.shadow);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        gl.enable(gl.STENCIL_TEST);
        gl.stencilFunc(gl.EQUAL, 0, 255);
        gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
        gl.depthMask(false);
        for (const made of own.meshes) this.mesh(made);
        gl.depthMask(true);
        gl.disable(gl.STENCIL_TEST);
        gl.disable(gl.BLEND);

        u = use(this.surface);
        gl.uniform3fv(u.light, light);
        gl.uniform3fv(u.eye, camera.eye);
        own.meshes.forEach((made, k) => {
          const mesh = meshes[k];
          gl.uniform3fv(u.base, mesh.color);
          gl.uniform1f(u.textured, mesh.texture >= 0 ? 1 : 0);
          if (mesh.texture >= 0) gl.bindTexture(gl.TEXTURE_2D, own.textures[mesh.texture]);
          if (mesh.both) gl.disable(gl.CULL_FACE); else gl.enable(gl.CULL_FACE);
          this.mesh(made);
        });
        gl.disable(gl.CULL_FACE);
      }
      if (options.skeleton || !options.skin) {
        // On top of the skin: the skeleton is what one wants to see.
        if (options.skin) gl.clear(gl.DEPTH_BUFFER_BIT);
        const size = 72 * actor.character.parents.length;
        const parts = [0, 1, 2].map(() => new Float32Array(size));
        const count = actor.bones(...parts);
        u = use(this.surface);
        gl.uniform3fv(u.light, light);
        gl.uniform3fv(u.eye, camera.eye);
        gl.uniform3fv(u.base, [0.9, 0.9, 0.9]);
        gl.uniform1f(u.textured, 0);
        this.loose(parts, count);
      }
      gl.bindVertexArray(null);
    }

    mesh(made) {
      const { gl } = this;
      gl.bindVertexArray(made.array);
      gl.drawElements(gl.TRIANGLES, made.corners, made.wide ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT, 0);
    }

    // The way of the hips as a ribbon on the floor.
    way(actor, use, theme) {
      const points = actor.way, half = 0.006 * actor.size;
      const out = [];
      for (let k = 1; k < points.length; k++) {
        const [ax, , az] = points[k - 1], [bx, , bz] = points[k];
        const length = Math.hypot(bx - ax, bz - az);
        if (length < 1e-6) continue;
        const ox = (-(bz - az) / length) * half, oz = ((bx - ax) / length) * half, y = actor.ground + 0.0015;
        const q = [[ax - ox, az - oz], [ax + ox, az + oz], [bx + ox, bz + oz], [bx - ox, bz - oz]];
        for (const c of [0, 1, 2, 0, 2, 3]) out.push(q[c][0], y, q[c][1]);
      }
      if (out.length === 0) return;
      const u = use(this.flat);
      this.gl.uniform1f(u.flatten, 0);
      this.gl.uniform4fv(u.paint, theme.way);
      this.gl.enable(this.gl.POLYGON_OFFSET_FILL);
      this.gl.polygonOffset(-1, -2);
      this.loose([new Float32Array(out)], out.length / 3);
      this.gl.disable(this.gl.POLYGON_OFFSET_FILL);
    }
  };
})();
