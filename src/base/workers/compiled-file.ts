import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const sources = `${sep}src${sep}`

/**
 * The compiled file of a source, for a process or a thread of its own: `new URL('./process.ts', import.meta.url)`. The build
 * renames what is imported, but not what stands in a string. A script that runs from the sources finds it in `dist/`, too.
 */
export function compiledFile(source: URL): string {
  const path = fileURLToPath(source).replace(/\.ts$/, '.js')
  // This file itself shows whether the sources run, and where they are.
  const here = fileURLToPath(import.meta.url)
  if (!here.endsWith('.ts')) return path
  const root = here.slice(0, here.lastIndexOf(`${sources}base${sep}`))
  return path.replace(`${root}${sources}`, `${root}${sep}dist${sep}`)
}
