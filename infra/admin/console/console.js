/** The HTML at an address, as the nodes to put in a place. */
async function nodesOf(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The console answered ${response.status}.`);
  return document.createRange().createContextualFragment(await response.text());
}

/** Reads a part of the page again and again, while the page is seen and no element in it has the focus. */
function keepLive(place) {
  const { live, seconds } = place.dataset;
  const update = async () => {
    if (document.hidden || place.contains(document.activeElement)) return;
    try {
      const nodes = await nodesOf(live);
      place.replaceChildren(...(nodes.querySelector('[data-live]') ?? nodes).childNodes);
      place.classList.remove('stale');
    } catch {
      // The console was stopped, or AWS refused: the numbers look old until there are others.
      place.classList.add('stale');
    }
  };
  setInterval(() => void update(), seconds * 1_000);
}

for (const place of document.querySelectorAll('[data-live]')) keepLive(place);
for (const place of document.querySelectorAll('[data-part]')) {
  nodesOf(place.dataset.part).then(
    (nodes) => place.replaceChildren(nodes),
    () => (place.textContent = 'The console does not answer. Is it still running? Its terminal may say more.'),
  );
}

document.addEventListener('submit', ({ target, submitter }) => {
  if (target.method !== 'post') return;
  setTimeout(() => {
    submitter.disabled = true;
    submitter.textContent = 'Working …';
  });
});

document.addEventListener('click', ({ target }) => {
  const source = document.getElementById(target.dataset?.copy ?? '');
  if (!source) return;
  navigator.clipboard.writeText(source.textContent).then(
    () => (target.textContent = 'Copied'),
    () => getSelection().selectAllChildren(source),
  );
});

document.addEventListener('change', ({ target }) => {
  if (target.form?.matches('[data-filters]')) target.form.requestSubmit();
});
