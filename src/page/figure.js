// Unpacks clips and skins, and computes joints and vertices at any time.
(() => {
  "use strict";
  const { store } = posemill;
  const bytes = ([at, length]) => store.slice(at, at + length);
  const f32 = (place) => new Float32Array(bytes(place).buffer);
  // Column by column the difference of each number from its prediction, low bytes before the others: see `whole` of the
  // writer. The prediction is zero or the last number (1).
  const whole = (place, columns, order = 0) => {
    const all = bytes(place), n = all.length / 3, rows = n / columns;
    const out = new Int32Array(n);
    for (let column = 0; column < columns; column++) {
      let last = 0;
      for (let row = 0; row < rows; row++) {
        const k = column * rows + row;
        const folded = all[k] | (all[n + 2 * k] << 8) | (all[n + 2 * k + 1] << 16);
        const now = last + ((folded >>> 1) ^ -(folded & 1));
        last = order > 0 ? now : 0;
        out[row * columns + column] = now;
      }
    }
    return out;
  };
  // Curves in steps from what they differ from the cubic between the rows around them: see `curves` of the writer.
  const curves = (place, columns, fine) => {
    const codes = whole(place, columns), rows = codes.length / columns, out = new Float64Array(codes.length);
    for (let column = 0; column < columns; column++) {
      let next = column;
      const at = (row) => out[row * columns + column];
      const put = (row, predicted, step) => { out[row * columns + column] = predicted + step * codes[next]; next += columns; };
      for (let row = 0; row < rows; row += 16) put(row, row > 0 ? at(row - 16) : 0, fine > 16 ? 2 : 1);
      for (let half = 8; half >= 1; half /= 2) {
        for (let row = half; row < rows; row += 2 * half) {
          const [a, b, c, d] = [row - half, row + half, row - 3 * half, row + 3 * half];
          const cubic = c >= 0 && d < rows;
          const near = b >= rows ? at(a) : cubic ? (9 * (at(a) + at(b)) - (at(c) + at(d))) / 16 : (at(a) + at(b)) / 2;
          put(row, near, half < fine ? 2 : 1);
        }
      }
    }
    return out;
  };
  const spread = (packed, low, step) => {
    const codes = whole(packed, low.length, 1);
    const out = new Float32Array(codes.length);
    for (let k = 0; k < codes.length; k++) out[k] = low[k % low.length] + step[k % step.length] * codes[k];
    return out;
  };

  // A 3x4 matrix by columns in `m` from `at`: rotation x y z w, translation x y z.
  const matrix = (m, at, x, y, z, w, tx, ty, tz) => {
    m[at] = 1 - 2 * (y * y + z * z); m[at + 1] = 2 * (x * y + w * z); m[at + 2] = 2 * (x * z - w * y);
    m[at + 3] = 2 * (x * y - w * z); m[at + 4] = 1 - 2 * (x * x + z * z); m[at + 5] = 2 * (y * z + w * x);
    m[at + 6] = 2 * (x * z + w * y); m[at + 7] = 2 * (y * z - w * x); m[at + 8] = 1 - 2 * (x * x + y * y);
    m[at + 9] = tx; m[at + 10] = ty; m[at + 11] = tz;
  };
  // out = a * b
  const multiply = (out, o, a, i, b, j) => {
    for (let c = 0; c < 4; c++) {
      const x = b[j + 3 * c], y = b[j + 3 * c + 1], z = b[j + 3 * c + 2];
      for (let r = 0; r < 3; r++) {
        out[o + 3 * c + r] = a[i + r] * x + a[i + 3 + r] * y + a[i + 6 + r] * z + (c === 3 ? a[i + 9 + r] : 0);
      }
    }
  };

  // Points of a mesh and the corners of its triangles as points, as `PackedSurface` of the writer orders them.
  const unpackPoints = (mesh) => {
    const corners = bytes(mesh.corners), back = whole(mesh.back, 1, 1), places = whole(mesh.positions, 3);
    const parents = new Int32Array(places.length / 3), order = [];
    let count = 0, at = 0, known = 0;
    // The next corner, predicted as a + b - c.
    const next = (a, b, c, parent) => {
      if (corners[at++] === 2) return count - 1 - back[known++];
      for (let k = 0; k < 3 && count > 0; k++) places[3 * count + k] += places[3 * a + k] + places[3 * b + k] - places[3 * c + k];
      parents[count] = parent;
      return count++;
    };
    while (at < corners.length) {
      const [a, b, c] = [0, 0, 0].map(() => next(count - 1, 0, 0, count - 1));
      order.push(a, b, c);
      const open = [[b, a, c], [c, b, a], [a, c, b]];
      while (open.length > 0) {
        const [from, to, behind] = open.pop();
        if (corners[at] === 0) { at++; continue; }
        const corner = next(from, to, behind, from);
        order.push(from, to, corner);
        open.push([corner, to, from], [from, corner, to]);
      }
    }
    return { places, parents, order };
  };

  // The triangles of vertices, and the point of each vertex.
  const unpackVertices = (mesh, order) => {
    const uses = whole(mesh.uses, 1), used = new Map(), pointOf = new Uint32Array(mesh.count);
    let at = 0, count = 0;
    const triangles = Uint32Array.from(order, (point) => {
      if (!used.has(point)) used.set(point, []);
      const own = used.get(point), use = own.length > 0 ? uses[at++] : 1;
      if (use === 1) pointOf[count] = point;
      own.unshift(use === 1 ? count++ : own.splice(Math.max(use - 1, 0), 1)[0]);
      return own[0];
    });
    return { triangles, pointOf };
  };

  // Normals: the mean of the triangles around each vertex, weighted by their angles, and what those of the file have more.
  const unpackNormals = (mesh, triangles, pointOf, places) => {
    const normals = new Float32Array(3 * mesh.count), more = whole(mesh.normals, 3), sums = new Float64Array(3 * mesh.count);
    for (let t = 0; t < triangles.length; t += 3) {
      for (let k = 0; k < 3; k++) {
        const [a, b, c] = [0, 1, 2].map((i) => 3 * pointOf[triangles[t + ((k + i) % 3)]]);
        const [ux, uy, uz, vx, vy, vz] = [b, c].flatMap((p) => [0, 1, 2].map((i) => places[p + i] - places[a + i]));
        const cross = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx], area = Math.hypot(...cross);
        if (area === 0) continue;
        const weight = Math.atan2(area, ux * vx + uy * vy + uz * vz) / area;
        for (let i = 0; i < 3; i++) sums[3 * triangles[t + k] + i] += weight * cross[i];
      }
    }
    for (let v = 0; v < sums.length; v += 3) {
      const length = Math.hypot(sums[v], sums[v + 1], sums[v + 2]), scale = length > 1e-3 ? 1 / length : 0;
      const normal = [0, 1, 2].map((i) => sums[v + i] * scale + more[v + i] / 32), size = Math.hypot(...normal) || 1;
      normals.set(normal.map((x) => x / size), v);
    }
    return normals;
  };

  // Joints and weights of points: the differences from those of the points that they resemble.
  const unpackWeights = (mesh, parents) => {
    const n = mesh.weights ? 4 : 1, joints = whole(mesh.joints, n), less = mesh.weights ? whole(mesh.weights, 3) : [];
    const weights = new Uint8Array(n * parents.length);
    for (let p = 0; p < parents.length; p++) {
      const own = n * p, above = n * parents[p];
      let same = parents[p] >= 0, rest = 255;
      for (let k = 0; k < n; k++) {
        same = same && joints[own + k] === 0;
        if (parents[p] >= 0) joints[own + k] += joints[above + k];
      }
      for (let k = 1; k < n; k++) rest -= weights[own + k] = less[3 * p + k - 1] + (same ? weights[above + k] : 0);
      weights[own] = rest;
    }
    return { n, joints, weights };
  };

  const unpackMesh = (mesh) => {
    const { places, parents, order } = unpackPoints(mesh);
    const { triangles, pointOf } = unpackVertices(mesh, order);
    const { n, joints, weights } = unpackWeights(mesh, parents);
    const each = (array, width, value) => array.map((_, k) => value(width * pointOf[Math.floor(k / width)] + (k % width), k % width));
    return {
      count: mesh.count,
      positions: each(new Float32Array(3 * mesh.count), 3, (at, k) => mesh.low[k] + mesh.step * places[at]),
      normals: unpackNormals(mesh, triangles, pointOf, places),
      triangles,
      bound: mesh.bound,
      bindings: f32(mesh.bindings),
      joint: n > 1 ? null : each(new Uint16Array(mesh.count), 1, (at) => joints[at]),
      joints: n > 1 ? each(new Uint16Array(4 * mesh.count), 4, (at) => joints[at]) : null,
      weights: n > 1 ? each(new Uint8Array(4 * mesh.count), 4, (at) => weights[at]) : null,
      texcoords: mesh.texcoords ? spread(mesh.texcoords.place, mesh.texcoords.low, mesh.texcoords.step) : null,
      colors: mesh.colors === undefined ? null : bytes(mesh.colors),
      color: mesh.color,
      both: mesh.both,
      texture: mesh.texture === undefined || mesh.texture === null ? -1 : mesh.texture,
      palette: new Float32Array(12 * mesh.bound.length),
      movedPositions: new Float32Array(3 * mesh.count),
      movedNormals: new Float32Array(3 * mesh.count),
    };
  };

  posemill.Character = class {
    constructor(packed) {
      Object.assign(this, { name: packed.name, parents: packed.parents, names: packed.names, hips: packed.hips });
      this.sides = packed.sides;
      this.rest = f32(packed.rest);
      this.meshes = packed.skin.meshes.map(unpackMesh);
      this.textures = packed.skin.textures;
    }
  };

  // Rotations of the frames from their rotation vectors from the first one, in steps of each joint.
  const unpackRotations = (vectors, turning, steps, still) => {
    const out = new Float32Array((vectors.length / 3) * 4);
    for (let k = 0; 3 * k < vectors.length; k++) {
      const v = [0, 1, 2].map((c) => vectors[3 * k + c] * steps[k % turning.length]), angle = Math.hypot(...v);
      const s = angle > 0 ? Math.sin(angle / 2) / angle : 0, w = Math.cos(angle / 2), [x, y, z] = v.map((c) => c * s);
      const [a, b, c, d] = still.subarray(4 * turning[k % turning.length]);
      out.set([d * x + a * w + b * z - c * y, d * y - a * z + b * w + c * x, d * z + a * y - b * x + c * w, d * w - a * x - b * y - c * z], 4 * k);
    }
    return out;
  };

  posemill.Actor = class {
    constructor(packed, characters) {
      this.character = characters[packed.character];
      Object.assign(this, { label: packed.label, rate: packed.rate, frames: packed.frames, stride: packed.stride, ghost: Boolean(packed.ghost) });
      this.turning = packed.turning;
      this.moving = packed.moving;
      this.kept = Math.ceil(this.frames / this.stride);
      const still = f32(packed.still);
      const { turning, moving, fine } = packed;
      this.rotations = unpackRotations(curves(packed.rotations, 3 * turning.length, fine), turning, f32(packed.steps), still);
      const n = this.character.parents.length;
      this.turns = new Float32Array(4 * n);
      this.places = new Float32Array(3 * n);
      this.turns.set(still);
      for (let j = 0; j < n; j++) this.places.set(this.character.rest.subarray(7 * j, 7 * j + 3), 3 * j);
      const given = f32(packed.places);
      packed.placed.forEach((j, k) => this.places.set(given.subarray(3 * k, 3 * k + 3), 3 * j));
      const from = moving.flatMap((j) => [...this.places.subarray(3 * j, 3 * j + 3)]);
      const moved = curves(packed.translations, from.length, fine);
      this.translations = Float32Array.from(moved, (x, k) => from[k % from.length] + packed.step * x);
      this.local = new Float32Array(12);
      this.joints = new Float32Array(12 * n);
      this.duration = (this.frames - 1) / this.rate;
      this.move(0);
      this.measure();
    }

    // Moves the joints to a time in seconds; a clip that has ended holds its last pose.
    move(time) {
      const last = this.kept - 1;
      const at = Math.min(Math.max((time * this.rate) / this.stride, 0), last);
      const a = Math.min(Math.floor(at + 1e-6), last), b = Math.min(a + 1, last), s = Math.max(at - a, 0);
      const { turning, moving, turns, places, rotations: q, translations: t } = this;
      for (let k = 0; k < turning.length; k++) {
        const i = 4 * (a * turning.length + k), j = 4 * (b * turning.length + k), o = 4 * turning[k];
        const dot = q[i] * q[j] + q[i + 1] * q[j + 1] + q[i + 2] * q[j + 2] + q[i + 3] * q[j + 3];
        const sign = dot < 0 ? -s : s;
        let length = 0;
        for (let c = 0; c < 4; c++) {
          turns[o + c] = q[i + c] * (1 - s) + q[j + c] * sign;
          length += turns[o + c] * turns[o + c];
        }
        length = 1 / Math.sqrt(length || 1);
        for (let c = 0; c < 4; c++) turns[o + c] *= length;
      }
      for (let k = 0; k < moving.length; k++) {
        const i = 3 * (a * moving.length + k), j = 3 * (b * moving.length + k), o = 3 * moving[k];
        for (let c = 0; c < 3; c++) places[o + c] = t[i + c] * (1 - s) + t[j + c] * s;
      }
      const { parents } = this.character;
      for (let j = 0; j < parents.length; j++) {
        const r = 4 * j, p = 3 * j;
        const own = parents[j] < 0 ? this.joints : this.local;
        matrix(own, 0, turns[r], turns[r + 1], turns[r + 2], turns[r + 3], places[p], places[p + 1], places[p + 2]);
        if (parents[j] >= 0) multiply(this.joints, 12 * j, this.joints, 12 * parents[j], this.local, 0);
      }
    }

    position(j) {
      return [this.joints[12 * j + 9], this.joints[12 * j + 10], this.joints[12 * j + 11]];
    }

    // The path of the hips, the size of the body and the height of the ground, from a few dozen times.
    measure() {
      const n = Math.min(this.kept, 120);
      const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
      this.way = [];
      let tall = 0;
      for (let k = 0; k < n; k++) {
        this.move(n > 1 ? (this.duration * k) / (n - 1) : 0);
        const hips = this.position(this.character.hips);
        this.way.push(hips);
        let reach = 0;
        for (let j = 0; j < this.character.parents.length; j++) {
          const p = this.position(j);
          if (p.some((c) => !Number.isFinite(c))) continue;
          reach = Math.max(reach, Math.hypot(p[0] - hips[0], p[1] - hips[1], p[2] - hips[2]));
          for (let c = 0; c < 3; c++) { low[c] = Math.min(low[c], p[c]); high[c] = Math.max(high[c], p[c]); }
        }
        tall = Math.max(tall, reach);
      }
      // The skin reaches beyond the joints: a few of its corners at a few times.
      for (const time of [0, 0.25, 0.5, 0.75, 1]) {
        this.move(this.duration * time);
        this.skin();
        const hips = this.position(this.character.hips);
        for (const mesh of this.character.meshes) {
          const all = mesh.movedPositions, stride = 3 * Math.max(1, Math.floor(mesh.count / 400));
          for (let v = 0; v + 2 < all.length; v += stride) {
            if (!Number.isFinite(all[v] + all[v + 1] + all[v + 2])) continue;
            tall = Math.max(tall, Math.hypot(all[v] - hips[0], all[v + 1] - hips[1], all[v + 2] - hips[2]));
            for (let c = 0; c < 3; c++) { low[c] = Math.min(low[c], all[v + c]); high[c] = Math.max(high[c], all[v + c]); }
          }
        }
      }
      this.low = low;
      this.high = high;
      this.size = Math.max(tall * 2, 0.05);
      // A body whose lowest point is near height 0 stands on height 0.
      this.ground = Math.abs(low[1]) < 0.12 * this.size ? 0 : low[1];
    }

    // Moves every vertex; the joints have been moved before.
    skin() {
      for (const mesh of this.character.meshes) {
        const { palette, bound, bindings, positions, normals, movedPositions, movedNormals } = mesh;
        for (let k = 0; k < bound.length; k++) multiply(palette, 12 * k, this.joints, 12 * bound[k], bindings, 12 * k);
        const m = new Float32Array(12);
        for (let v = 0; v < mesh.count; v++) {
          if (mesh.joint) {
            const at = 12 * mesh.joint[v];
            for (let c = 0; c < 12; c++) m[c] = palette[at + c];
          } else {
            m.fill(0);
            for (let k = 4 * v; k < 4 * v + 4; k++) {
              const w = mesh.weights[k] / 255;
              if (w === 0) continue;
              const at = 12 * mesh.joints[k];
              for (let c = 0; c < 12; c++) m[c] += w * palette[at + c];
            }
          }
          const i = 3 * v, x = positions[i], y = positions[i + 1], z = positions[i + 2];
          movedPositions[i] = m[0] * x + m[3] * y + m[6] * z + m[9];
          movedPositions[i + 1] = m[1] * x + m[4] * y + m[7] * z + m[10];
          movedPositions[i + 2] = m[2] * x + m[5] * y + m[8] * z + m[11];
          // Normals by the cofactors, so that stretched and mirrored bindings keep them upright.
          const nx = normals[i], ny = normals[i + 1], nz = normals[i + 2];
          const a = m[4] * m[8] - m[5] * m[7], b = m[5] * m[6] - m[3] * m[8], c = m[3] * m[7] - m[4] * m[6];
          const d = m[7] * m[2] - m[8] * m[1], e = m[8] * m[0] - m[6] * m[2], f = m[6] * m[1] - m[7] * m[0];
          const g = m[1] * m[5] - m[2] * m[4], h = m[2] * m[3] - m[0] * m[5], k = m[0] * m[4] - m[1] * m[3];
          const sign = m[0] * a + m[1] * b + m[2] * c < 0 ? -1 : 1;
          const px = sign * (a * nx + d * ny + g * nz), py = sign * (b * nx + e * ny + h * nz);
          const pz = sign * (c * nx + f * ny + k * nz);
          const length = 1 / (Math.hypot(px, py, pz) || 1);
          movedNormals[i] = px * length; movedNormals[i + 1] = py * length; movedNormals[i + 2] = pz * length;
        }
      }
    }

    // Triangles of the skeleton: a long octahedron from each joint to its child, positions and normals.
    bones(positions, normals, colors) {
      const { parents, sides } = this.character;
      // Linear colours: the trunk yellow, the left blue, the right orange; a ghost is grey.
      const grey = [0.3, 0.34, 0.4];
      const palette = this.ghost ? [grey, grey, grey] : [[0.95, 0.72, 0.12], [0.04, 0.28, 0.95], [1, 0.22, 0.01]];
      let n = 0;
      const corner = (p, q, c) => {
        positions.set(p, n); normals.set(q, n); colors.set(c, n);
        n += 3;
      };
      for (let j = 0; j < parents.length; j++) {
        if (parents[j] < 0) continue;
        const a = this.position(parents[j]), b = this.position(j);
        const d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
        const length = Math.hypot(...d);
        if (!(length > 1e-3 * this.size) || length > 0.75 * this.size) continue;
        const w = Math.min(0.085 * length, 0.014 * this.size);
        const up = Math.abs(d[1]) < 0.9 * length ? [0, 1, 0] : [1, 0, 0];
        const unit = (v) => { const l = Math.hypot(...v) || 1; return v.map((x) => x / l); };
        const cross = (u, v) => [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        const s = unit(cross(d, up)), t = unit(cross(d, s));
        const middle = [0, 1, 2].map((c) => a[c] + d[c] * 0.16);
        const ring = [s, t, s.map((x) => -x), t.map((x) => -x)].map((v) => middle.map((x, c) => x + w * v[c]));
        const color = palette[sides[j]];
        for (let k = 0; k < 4; k++) {
          const p = ring[k], q = ring[(k + 1) % 4];
          for (const [u, v, tip] of [[q, p, a], [p, q, b]]) {
            const normal = unit(cross([v[0] - u[0], v[1] - u[1], v[2] - u[2]], [tip[0] - u[0], tip[1] - u[1], tip[2] - u[2]]));
            corner(u, normal, color); corner(v, normal, color); corner(tip, normal, color);
          }
        }
      }
      return n / 3;
    }
  };
})();
