// The texts of the licences of all that a bundle ships.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Shipped } from './packages.ts'

/** Libraries of C that are compiled into native modules: their sources lie in the packages, their names nowhere. */
const libraries = [
  {
    name: 'libgit2',
    license: 'GPL-2.0-only WITH GCC-exception-2.0',
    within: 'node_modules/nodegit/vendor/libgit2',
    version: 'include/git2/version.h',
    pattern: /LIBGIT2_VERSION\s+"([\d.]+)"/,
  },
  {
    name: 'zlib',
    license: 'Zlib',
    within: 'node_modules/nodegit/vendor/libgit2/deps/zlib',
    version: 'zlib.h',
    pattern: /ZLIB_VERSION "([\d.]+)"/,
  },
  {
    name: 'pcre',
    license: 'BSD-3-Clause',
    within: 'node_modules/nodegit/vendor/libgit2/deps/pcre',
    version: 'pcre.h',
    pattern: /PCRE_MAJOR\s+(\d+)\s+#define PCRE_MINOR\s+(\d+)/,
  },
  {
    name: 'libssh2',
    license: 'BSD-3-Clause',
    within: 'node_modules/nodegit/vendor/libssh2',
    version: 'include/libssh2.h',
    pattern: /LIBSSH2_VERSION\s+"([\w.]+)"/,
  },
  {
    name: 'http-parser',
    license: 'MIT',
    within: 'node_modules/nodegit/vendor/http_parser',
    version: 'http_parser.h',
    pattern:
      /HTTP_PARSER_VERSION_MAJOR (\d+)\s+#define HTTP_PARSER_VERSION_MINOR (\d+)\s+#define HTTP_PARSER_VERSION_PATCH (\d+)/,
  },
  {
    name: 'sqlite',
    license: 'blessing',
    within: 'node_modules/better-sqlite3/deps/sqlite3',
    version: 'sqlite3.h',
    pattern: /SQLITE_VERSION\s+"([\d.]+)"/,
  },
] as const

export interface Library {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly path: string
}

export function shippedLibraries(root: string): Library[] {
  return libraries.map(({ name, license, within, version, pattern }) => {
    const found = pattern.exec(readFileSync(join(root, within, version), 'utf8'))
    if (found === null) throw new Error(`${within}/${version} names no version of ${name}`)
    return { name, license, version: found.slice(1).join('.'), path: within }
  })
}

const isLicense = /^(licen[cs]e|copying|notice|unlicense|authors\.txt)([.-].*)?$/i

/** One text with all of them, each once: package, version, licence, and what its folder says. */
export function licenseTexts(
  root: string,
  packages: readonly Shipped[],
  library: readonly Library[],
): string {
  const all = [
    ...packages.map((one) => ({ ...one, license: declared(root, one) })),
    ...library.map((one) => ({ ...one })),
  ]
  const holders = new Map<string, string[]>()
  for (const { name, version, license, path } of all) {
    const text = textsIn(join(root, path)) || `The package has no text of its licence: ${license}`
    const of = holders.get(text) ?? []
    const title = `${name} ${version} (${license})`
    if (!of.includes(title)) of.push(title)
    holders.set(text, of)
  }
  const parts = [...holders].map(([text, names]) => `${names.join('\n')}\n\n${text.trim()}\n`)
  const head = 'Gitstead ships what is named here, under these licences. Its own is in LICENSE.\n'
  return [head, ...parts].join(`\n${'-'.repeat(80)}\n\n`)
}

function declared(root: string, { path, name }: Shipped): string {
  const manifest = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
  const { license = manifest.licenses?.[0]?.type } = manifest
  const word = typeof license === 'object' && license !== null ? license.type : license
  if (typeof word === 'string' && word !== '') return word
  if (textsIn(join(root, path)) !== '') return 'see the text'
  throw new Error(`${name} has no licence: leave it out, or ask its authors`)
}

function textsIn(folder: string): string {
  if (!existsSync(folder)) return ''
  return readdirSync(folder, { withFileTypes: true })
    .filter((file) => file.isFile() && isLicense.test(file.name))
    .map((file) => file.name)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim())
    .join('\n\n')
}
