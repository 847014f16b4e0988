/** The HTML at an address, as the nodes to put in a place. */
async function nodesOf(address, signal) {
  const response = await fetch(address, { signal });
  if (!response.ok) throw new Error(`The console answered ${response.status}.`);
  return document.createRange().createContextualFragment(await response.text());
}

/** Reads a part of the page again and again, while the page is seen and no element in it has the focus. */
function keepLive(place) {
  const update = async () => {
    const { live } = place.dataset;
    if (document.hidden || place.contains(document.activeElement)) return;
    try {
      const nodes = await nodesOf(live);
      // Filtered meanwhile.
      if (place.dataset.live !== live) return;
      place.replaceChildren(...nodes.querySelector('[data-live]').childNodes);
      place.classList.remove('stale');
    } catch {
      // The console was stopped, or AWS refused: the numbers look old until there are others.
      place.classList.add('stale');
    }
  };
  setInterval(() => void update(), place.dataset.seconds * 1_000);
}

// The answer to a form: coming back to it, a browser would ask whether to send the form again.
history.replaceState(null, '', location.href);

for (const place of document.querySelectorAll('[data-live]')) keepLive(place);
for (const place of document.querySelectorAll('[data-part]')) {
  nodesOf(place.dataset.part).then(
    (nodes) => place.replaceChildren(nodes),
    () => (place.textContent = 'The console does not answer. Is it still running? Its terminal may say more.'),
  );
}

document.addEventListener('submit', ({ target, submitter }) => {
  if (target.method !== 'post') return;
  setTimeout(() => Object.assign(submitter, { disabled: true, textContent: 'Working …' }));
});

document.addEventListener('click', ({ target }) => {
  const source = document.getElementById(target.dataset?.copy ?? '');
  if (!source) return;
  navigator.clipboard.writeText(source.textContent).then(
    () => (target.textContent = 'Copied'),
    () => getSelection().selectAllChildren(source),
  );
});

/** The filtering that is under way; another one ends it. */
let filtering = new AbortController();

/** Shows the rows that fit a form of filters, and has the address name them. */
async function filter(form) {
  filtering.abort();
  filtering = new AbortController();
  const { signal } = filtering;
  const address = `${location.pathname}?${new URLSearchParams(new FormData(form))}`;
  const place = document.querySelector('[data-results]');
  try {
    const found = (await nodesOf(address, signal)).querySelector('[data-results]');
    place.replaceChildren(...found.childNodes);
    Object.assign(place.dataset, found.dataset);
    place.classList.remove('stale');
    history.replaceState(null, '', address);
  } catch {
    if (!signal.aborted) place.classList.add('stale');
  }
}

document.addEventListener('input', ({ target: { form } }) => {
  if (form?.matches('[data-filters]')) void filter(form);
});
