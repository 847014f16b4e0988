import type { Hono } from 'hono';
import { DAY_MS, isoDay } from '../../../shared/keys/verdict.ts';
import { CHANGE_TITLES, changeCells, changesByKey, historyOfPet } from '../records/stock-history.ts';
import type { StockRow } from '../records/stock-rows.ts';
import { AdminError } from '../service/failures.ts';
import { capitalized, formatNumber, withTarget } from '../service/text.ts';
import { facts, type Html, linksTo, markup, table } from './markup.ts';
import { type Site, unreadHistory } from './site.ts';
import { CHART_DAYS, picture } from './usage-picture.ts';

/** Max changes that a page reads of a pet. */
const MAX_READ = 2_000;
/** Max pages of 1 MB that it reads of all pets: some seconds. */
const MAX_PAGES = 20;
const MAX_SHOWN = 50;

/** The latest changes of a pet, also of a removed one, with its quantity per day; nothing without a pet or changes. */
export async function changesOfPet({ target }: Site, petId = ''): Promise<Html | undefined> {
  if (petId.trim() === '') return undefined;
  const found = await historyOfPet(target, petId, CHART_DAYS, MAX_READ).catch((error: unknown) =>
    error instanceof AdminError ? undefined : unreadHistory(error),
  );
  if (found === undefined) return undefined;
  if (typeof found === 'string') return markup`<section class="card"><h2>Changes</h2>${found}</section>`;
  const all = withTarget(`npm run admin -- inventory history ${found.petId}`, target.option);
  return markup`${quantityPicture(found)}<section class="card"><h2>Changes</h2>
${changeTable(found.rows, `No changes in ${CHART_DAYS} days.`)}<p class="quiet">All of 400 days: <code>${all} --days 400</code></p></section>`;
}

/** The quantity at the end of each day, where it is known. */
function quantityPicture({ rows, isCut }: Awaited<ReturnType<typeof historyOfPet>>): Html | undefined {
  const changes = rows.filter(({ at }) => at !== null);
  const oldest = changes.at(-1);
  if (!oldest) return undefined;
  const before = oldest.note === 'new' ? 0 : oldest.was;
  const days = Array.from({ length: CHART_DAYS }, (_, index) => {
    const day = isoDay(Date.now() - (CHART_DAYS - 1 - index) * DAY_MS);
    const last = changes.find(({ at }) => String(at).slice(0, 10) <= day);
    const value = !last ? (isCut ? null : before) : last.note === 'removed' ? 0 : last.quantity;
    return { day, value: value ?? 0, title: value === null ? 'not known' : formatNumber(value) };
  });
  const cells = days.toReversed().map(({ day, title }) => [day, title]);
  const highest = formatNumber(Math.max(...days.map(({ value }) => value)));
  return markup`<section class="card"><h2>Quantity at the end of the day</h2>
${facts({ Today: days.at(-1)?.title ?? '', Highest: highest })}${picture('Quantity', days)}
<details><summary>As a table</summary>${table('Quantity', ['Day (UTC)', 'Quantity'], cells)}</details></section>`;
}

function changeTable(rows: readonly StockRow[], none: string, withPets = false): Html {
  if (rows.length === 0) return markup`<p class="quiet">${none}</p>`;
  const titles = [...(withPets ? ['pet'] : []), ...CHANGE_TITLES].map(capitalized);
  const cells = rows.slice(0, MAX_SHOWN).map((row) => [withPets ? petLink(row) : [], changeCells(row)].flat());
  return markup`${table('Changes', titles, cells)}
${rows.length > MAX_SHOWN && markup`<p class="quiet">The newest ${MAX_SHOWN} of ${formatNumber(rows.length)}.</p>`}`;
}

const petLink = ({ petId }: StockRow): Html => markup`<a href="stock?petId=${petId}">${petId}</a>`;

/** `/keys/ID/changes`: what a key changed. */
export function addKeyChangesPage(app: Hono, site: Site): void {
  const { target } = site;
  app.get('/keys/:id/changes', async (c) => {
    const key = await site.key(c.req.param('id'));
    const { id, name, rows, isCut } = await changesByKey(target, key, 0, { maxPages: MAX_PAGES });
    const part = isCut && `Only some of the records of all pets were searched, up to ${MAX_PAGES} MB. `;
    const all = withTarget(`npm run admin -- inventory changes --key ${id}`, target.option);
    const content = markup`<section class="card">${changeTable(rows, 'None found.', true)}<p class="quiet">${part}All: <code>${all}</code></p></section>`;
    return site.show(c, { title: `Changes by ${name}`, crumbs: linksTo({ id, name }), part: 'keys' }, content);
  });
}
