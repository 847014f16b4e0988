/** Reads a part of the page again and again, while the page is seen and no element in it has the focus. */
function keepLive(place) {
  const update = async () => {
    if (document.hidden || place.contains(document.activeElement)) return;
    try {
      const response = await fetch(place.dataset.live);
      if (!response.ok) throw new Error(`The console answered ${response.status}.`);
      const nodes = document.createRange().createContextualFragment(await response.text());
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
