// The visible texts whose contrast with the ground behind them is below 4.5:1, with it.
(() => {
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b };
  const parsed = text => { const c = text.match(/[\d.]+/g).map(Number); return c.length < 4 ? [...c, 1] : c };
  const over = (a, b) => a.slice(0, 3).map((v, k) => v * a[3] + b[k] * (1 - a[3]));
  const ground = e => { const all = []; for (; e; e = e.parentElement) all.unshift(parsed(getComputedStyle(e).backgroundColor));
    return all.reduce((below, c) => over(c, below), [255, 255, 255]) };
  return [...document.querySelectorAll('body *')].flatMap(e => {
    const style = getComputedStyle(e), own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || style.visibility !== 'visible') return [];
    const below = ground(e), ink = over(parsed(e.namespaceURI.includes('svg') ? style.fill : style.color), below);
    const [a, b] = [light(ink), light(below)].sort((x, y) => y - x), contrast = (a + .05) / (b + .05);
    return contrast < 4.5 ? [e.textContent.trim().slice(0, 30) + ' ' + contrast.toFixed(2)] : [] }) })()
