// Unpacks the scene, the player and parts of the page, puts the parts in their place and starts the player.
const posemill = {};
(async () => {
  "use strict";
  const data = document.getElementById("scene");
  const section = document.getElementById("player");
  if (!data) return;
  try {
    // Digits to base 85, as `digits` of the writer.
    const text = data.textContent, packed = new Uint8Array(Math.floor((text.length * 4) / 5));
    for (let k = 0, at = 0; k < text.length; k += 5) {
      let value = 0;
      for (let i = k; i < k + 5; i++) {
        const code = i < text.length ? text.charCodeAt(i) : 119;
        value = value * 85 + (code === 120 ? 60 : code) - 35;
      }
      for (let i = 24; i >= 0; i -= 8) packed[at++] = value >>> i;
    }
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const all = new Uint8Array(await new Response(stream).arrayBuffer());
    const length = new DataView(all.buffer).getUint32(0, true);
    posemill.scene = JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + length)));
    // The numbers of the scene; lists in it are given by offset and length in bytes.
    posemill.store = all.subarray(4 + length);
  } catch (why) {
    if (!section) return;
    section.textContent = `This browser cannot unpack the motion (${why}): one of 2023 or later can.`;
    section.hidden = false;
    return;
  }
  const { later } = posemill.scene;
  for (const part of document.querySelectorAll("[data-later]")) part.outerHTML = later[part.dataset.later];
  if (!section) return;
  const script = document.createElement("script");
  script.textContent = posemill.scene.script;
  document.body.append(script);
})();
