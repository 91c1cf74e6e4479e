// `npm run bundle`: the archive for this platform, with its checksum, in `release/` or the folder that is named.
import { relative, resolve } from 'node:path'
import { root } from '../setup.mjs'
import { makeBundle, writeChecksums } from './bundle.ts'

const [folder = `${root}/release`] = process.argv.slice(2)
if (folder.startsWith('-')) {
  console.error('usage: npm run bundle -- [folder]')
  process.exit(1)
}
const out = resolve(folder)
const archive = makeBundle({ root, out, say: (text) => console.error(`gitstead: ${text}`) })
const sums = writeChecksums(archive)
for (const path of [archive, sums]) console.log(relative(process.cwd(), path) || path)
