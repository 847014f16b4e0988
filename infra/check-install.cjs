'use strict';
// Runs before every script, also on the Node.js of a machine where `npm ci` could not install ours: so no TypeScript,
// no packages, and nothing that is new in JavaScript.
const { existsSync } = require('node:fs');
const path = require('node:path');
const { dependencies, devDependencies } = require('../package.json');

const OLDEST_NODE = 24;

const modules = path.join(__dirname, '../node_modules');
const packages = Object.keys(Object.assign({}, dependencies, devDependencies));
const missing = packages.find((name) => !existsSync(path.join(modules, name, 'package.json')));

if (missing !== undefined) stop(`The package ${missing} is not installed: run \`npm ci\`.`);
if (parseInt(process.versions.node, 10) < OLDEST_NODE)
  stop(
    `This needs Node.js ${OLDEST_NODE} or newer, but runs on ${process.versions.node}: run \`npm ci\`, which installs it ` +
      'on Linux x64; elsewhere, or if that does not help, install it yourself.',
  );

/** @param {string} reason */
function stop(reason) {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
