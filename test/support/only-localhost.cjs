/**
 * Preloaded into each Node.js process of a test run: no name but localhost is looked up. Others fail as on a machine
 * without network, and are reported when the run ends.
 */
const dns = require('node:dns');
const { appendFileSync } = require('node:fs');

const { lookup, promises } = dns;
const { lookup: lookupPromise } = promises;
// Suites replace `process.env`.
const { TEST_RUN: directory } = process.env;

/** `localhost`, or an address, which takes no lookup. */
const isLocal = (name) => !name || /^(?:.+\.)?localhost$|^[\d.]+$|:/i.test(name);

function failureFor(name) {
  appendFileSync(`${directory}/lookups`, `${name}\n`);
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND', hostname: name });
}

dns.lookup = (name, ...rest) => {
  if (isLocal(name)) return lookup(name, ...rest);
  process.nextTick(rest.at(-1), failureFor(name));
};
promises.lookup = (name, ...rest) => (isLocal(name) ? lookupPromise(name, ...rest) : Promise.reject(failureFor(name)));
