/** Refreshes a part of the page periodically while the page is visible and nothing in it has the focus. */
function keepLive(place) {
  let updated = new Date();
  // Screen readers announce each change of a live region that is there already.
  const notice = Object.assign(document.createElement('p'), { className: 'stale', ariaLive: 'polite' });
  place.before(notice);
  const update = async () => {
    if (document.hidden || place.contains(document.activeElement)) return;
    try {
      const response = await fetch(place.dataset.live);
      if (!response.ok) throw new Error(`returned ${response.status}`);
      const nodes = document.createRange().createContextualFragment(await response.text());
      place.replaceChildren(...nodes.querySelector('[data-live]').childNodes);
      updated = new Date();
      notice.textContent = '';
    } catch (error) {
      // Browsers throw a TypeError if there is no response.
      const reason = error instanceof TypeError ? 'does not respond' : error.message;
      const text = `These figures are of ${updated.toISOString().slice(11, 16)} UTC and not updated: the console ${reason}.`;
      if (notice.textContent !== text) notice.textContent = text;
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
