// @ts-check
// What starts with the whole server in it, as one file: Node needs 0.5 ms and more for each module that it finds, reads and
// links, and the server has some 1,700 of its own (docs/decisions/0064).
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/**
 * Puts the server and its command line into one file, `server.cjs`, in a folder of compiled sources. Packages stay where they
 * are: some hold native code, or start files of their own.
 *
 * @param {string} folder
 */
export async function bundle(folder) {
  // Not there yet when the set-up begins.
  const { build } = await import('esbuild')
  await build({
    stdin: {
      contents: `export { serve } from './main.js'; export { runCommandLine } from './cli/main.js'`,
      resolveDir: folder,
    },
    outfile: join(folder, 'server.cjs'),
    bundle: true,
    packages: 'external',
    // Paths are compared with the folder as it was given.
    preserveSymlinks: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'silent',
    plugins: [keepAddresses(folder)],
  })
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
