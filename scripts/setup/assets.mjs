// @ts-check
// What browsers load: scripts and style sheet as few small files, named by what they hold, and packed once.
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'

/**
 * Makes `web/assets/` of a compiled folder, with `manifest.json`: the name in the sources to the name that is served.
 *
 * @param {string} root
 * @param {string} compiled
 */
export async function makeAssets(root, compiled) {
  const folder = join(compiled, 'web/assets')
  await mkdir(folder, { recursive: true })
  /** @type {Record<string, string>} */
  const manifest = {}
  for (const { name, path, bytes } of [
    ...(await bundled(root, folder)),
    await icons(root, compiled),
  ]) {
    await writePacked(join(folder, path), bytes)
    if (name !== undefined) manifest[name] = path
  }
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {Promise<{ name: string | undefined, path: string, bytes: Uint8Array }[]>}
 */
async function bundled(root, folder) {
  // Not there yet when the set-up begins.
  const { build } = await import('esbuild')
  const browser = join(root, 'src/web/browser')
  const entryPoints = {
    main: join(browser, 'main.ts'),
    editor: join(browser, 'editor.ts'),
    style: join(root, 'src/web/style/main.css'),
  }
  const { outputFiles, metafile } = await build({
    entryPoints,
    outdir: folder,
    write: false,
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    target: ['chrome109', 'firefox115', 'safari16.4'],
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    metafile: true,
    legalComments: 'none',
    logLevel: 'silent',
    tsconfig: join(browser, 'tsconfig.json'),
  })
  const entries = new Map(
    Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[basename(path), basename(entryPoint)]],
    ),
  )
  return outputFiles.map(({ path, contents }) => {
    const entry = entries.get(basename(path))
    const name = entry === 'main.css' ? 'style.css' : entry?.replace(/\.ts$/, '.js')
    return { name, path: basename(path), bytes: contents }
  })
}

/**
 * One picture with a symbol for each icon that pages use.
 *
 * @param {string} root
 * @param {string} compiled
 */
async function icons(root, compiled) {
  const { iconNames } = await import(pathToFileURL(join(compiled, 'web/parts/icon-names.js')).href)
  const data = JSON.parse(
    await readFile(join(root, 'node_modules/@primer/octicons/build/data.json'), 'utf8'),
  )
  const symbols = iconNames.map(
    (/** @type {string} */ name) =>
      `<symbol id="${name}" viewBox="0 0 16 16">${data[name].heights['16'].path}</symbol>`,
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>`
  const hash = createHash('sha256').update(svg).digest('hex').slice(0, 8).toUpperCase()
  return { name: 'icons.svg', path: `icons-${hash}.svg`, bytes: Buffer.from(svg) }
}

/**
 * @param {string} path
 * @param {Uint8Array} bytes
 */
async function writePacked(path, bytes) {
  await writeFile(path, bytes)
  await writeFile(`${path}.br`, brotliCompressSync(bytes))
  await writeFile(`${path}.gz`, gzipSync(bytes, { level: 9 }))
}
