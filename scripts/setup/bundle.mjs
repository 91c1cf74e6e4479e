// @ts-check
// What starts with the whole server in it, as one file: Node needs 0.5 ms and more for each module that it finds, reads and
// links, and the server has some 1,700 of its own (docs/decisions/0064).
import { readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** What `server.cjs` gives, by the compiled module. */
export const serverParts = { 'main.js': ['serve'], 'cli/main.js': ['runCommandLine'] }

/**
 * Puts some exports of compiled modules, with all that these need, into one file beside them. Packages stay where they are:
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
  const { outputFiles } = await build({
    stdin: { contents: lines.join('\n'), resolveDir: folder },
    outfile: join(folder, name),
    write: false,
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
  for (const { path, text } of outputFiles) await writeFile(path, keepDefaults(text))
}

/**
 * A package of ES modules keeps its default export. esbuild's helper takes everything that `require` gives for it, which Node
 * does with packages of CommonJS alone.
 *
 * @param {string} text
 */
function keepDefaults(text) {
  const found = 'isNodeMode || !mod || !mod.__esModule ?'
  const [before, after, ...more] = text.split(found)
  if (after === undefined || more.length > 0)
    throw new Error('esbuild has another helper for imports')
  return `${before}mod?.[Symbol.toStringTag] !== 'Module' && (${found.slice(0, -2)}) ?${after}`
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
