/** Refreshes a part of the page periodically while the page is visible and nothing in it has the focus. */
function keepLive(place) {
  const update = async () => {
    if (document.hidden || place.contains(document.activeElement)) return;
    try {
      const response = await fetch(place.dataset.live);
      if (!response.ok) throw new Error(`The console returned ${response.status}.`);
      const nodes = document.createRange().createContextualFragment(await response.text());
      place.replaceChildren(...nodes.querySelector('[data-live]').childNodes);
      place.classList.remove('stale');
    } catch {
      // The console was stopped, or AWS failed: the numbers are marked as stale until the next success.
      place.classList.add('stale');
    }
  };
  setInterval(() => void update(), place.dataset.seconds * 1_000);
}

// The response to a form: on return, a browser would ask whether to submit the form again.
history.replaceState(null, '', location.href);

for (const place of document.querySelectorAll('[data-live]')) keepLive(place);

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
