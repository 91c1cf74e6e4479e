// @ts-check
// What starts with the whole server in it, as one file: Node needs 0.5 ms and more for each module that it finds, reads and
// links, and the server has some 1,700 of its own (docs/decisions/0064).
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'

/** What `server.cjs` gives, by the compiled module. */
export const serverParts = { 'main.js': ['serve'], 'cli/main.js': ['runCommandLine'] }

/**
 * Packages of ES modules whose default export our modules take. `require` gives the whole module in its place, so these are
 * put into the bundle.
 */
export const packagesInside = ['color-name', 'markdown-it-emoji/lib/data/full.mjs']

/**
 * Puts some exports of compiled modules, with all that these need, into one file beside them. Other packages stay where they are:
 * some hold native code, or start files of their own.
 *
 * @param {string} folder
 * @param {string} name
 * @param {Readonly<Record<string, readonly string[]>>} parts
 */
export async function bundle(folder, name, parts) {
  // Not there yet when the set-up begins.
  const { build } = await import('esbuild')
  const lines = Object.entries(parts).map(
    ([module, names]) => `export { ${names.join(', ')} } from './${module}'`,
  )
  await build({
    stdin: { contents: lines.join('\n'), resolveDir: folder },
    outfile: join(folder, name),
    bundle: true,
    packages: 'external',
    // Paths are compared with the folder as it was given.
    preserveSymlinks: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'silent',
    plugins: [takeInside, keepAddresses(folder)],
  })
}

/** @type {import('esbuild').Plugin} */
const takeInside = {
  name: 'take-inside',
  setup(build) {
    for (const name of packagesInside) {
      build.onResolve({ filter: new RegExp(`^${name}$`) }, ({ importer }) => ({
        path: createRequire(importer).resolve(name),
      }))
    }
  },
}

/**
 * A module that names a file beside it (a worker, a page, a hook) still means the folder that it was compiled to.
 *
 * @param {string} folder
 * @returns {import('esbuild').Plugin}
 */
function keepAddresses(folder) {
  return {
    name: 'keep-addresses',
    setup(build) {
      build.onLoad({ filter: /\.js$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        const from = JSON.stringify(relative(folder, path))
        const address = `require('node:url').pathToFileURL(require('node:path').join(__dirname, ${from})).href`
        return { contents: text.replaceAll('import.meta.url', address), loader: 'js' }
      })
    },
  }
}
