// Unpacks the scene and the player from the page, and starts the player.
const posemill = {};
(async () => {
  "use strict";
  const data = document.getElementById("scene");
  const section = document.getElementById("player");
  if (!data || !section) return;
  try {
    const raw = atob(data.textContent);
    const packed = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) packed[k] = raw.charCodeAt(k);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const all = new Uint8Array(await new Response(stream).arrayBuffer());
    const length = new DataView(all.buffer).getUint32(0, true);
    posemill.scene = JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + length)));
    // The numbers of the scene; lists in it are given by offset and length in bytes.
    posemill.store = all.subarray(4 + length);
  } catch (why) {
    section.textContent = `This browser cannot unpack the motion (${why}): one of 2023 or later can.`;
    section.hidden = false;
    return;
  }
  const script = document.createElement("script");
  script.textContent = posemill.scene.script;
  document.body.append(script);
})();
