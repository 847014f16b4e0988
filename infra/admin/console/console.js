/** The HTML at an address, as the nodes to put in a place. */
async function nodesOf(address) {
  const response = await fetch(address);
  const text = response.ok ? await response.text() : `The console answered ${response.status}.`;
  return document.createRange().createContextualFragment(text);
}

/** Reads a part of the page again and again, while the page is seen and nobody is at work in there. */
function keepLive(place) {
  const { live, seconds } = place.dataset;
  setInterval(() => {
    if (document.hidden || place.contains(document.activeElement)) return;
    nodesOf(live).then(
      (nodes) => place.replaceChildren(...(nodes.querySelector('[data-live]') ?? nodes).childNodes),
      // The console was stopped, or this machine was asleep: the numbers look old until it answers again.
      () => place.classList.add('stale'),
    );
  }, seconds * 1_000);
}

for (const place of document.querySelectorAll('[data-live]')) keepLive(place);
for (const place of document.querySelectorAll('[data-part]')) {
  nodesOf(place.dataset.part).then(
    (nodes) => place.replaceChildren(nodes),
    () => (place.textContent = 'The console does not answer. Is it still running?'),
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
