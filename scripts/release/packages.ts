// Which npm packages a bundle ships, and where they lie.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { NATIVES } from '../setup/native.mjs'

/** A package below `node_modules`, which may lie below another one's. */
export interface Shipped {
  readonly name: string
  readonly version: string
  /** Its folder, from that of the clone. */
  readonly path: string
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const natives: ReadonlySet<string> = new Set(NATIVES.map(({ name }) => name))

/** Counts installations when it is installed, which our set-up does not let it; nothing loads it. */
const left: ReadonlySet<string> = new Set(['@scarf/scarf'])

/** The packages that the server loads from its folder: what compiled files name, and what these packages need. */
export function loadedPackages(root: string): Shipped[] {
  return closure(root, namedIn(join(root, 'dist')))
}

/** Those, and the packages whose code or pictures are in what browsers load. */
export function shippedPackages(root: string): Shipped[] {
  const inBrowsers = namedIn(join(root, 'src/web/browser'))
  return closure(root, new Set([...namedIn(join(root, 'dist')), ...inBrowsers, '@primer/octicons']))
}

function closure(root: string, named: ReadonlySet<string>): Shipped[] {
  const found = new Map<string, Shipped>()
  const first = needsOf(root, '').filter((name) => named.has(name))
  const open = first.map((name) => ({ name, from: '' }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const path = locate(root, next.from, next.name)
    if (path === undefined || found.has(path)) continue
    const { name, version } = manifestOf(root, path)
    found.set(path, { name, version, path })
    for (const need of needsOf(root, path)) open.push({ name: need, from: path })
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function manifestOf(root: string, path: string): Manifest {
  return JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
}

function needsOf(root: string, path: string): string[] {
  const { name, dependencies, optionalDependencies, peerDependencies } = manifestOf(root, path)
  const all = { ...dependencies, ...optionalDependencies, ...peerDependencies }
  const needs = Object.keys(all).filter((need) => !left.has(need))
  if (!natives.has(name)) return needs
  // The rest is for compiling it, or for fetching it compiled.
  const used = namedIn(join(root, path, 'lib'))
  return needs.filter((need) => used.has(need))
}

/** As Node looks for it: beside whoever needs it, then further up. */
function locate(root: string, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (isPackage(root, path)) return path
    if (folder === '') return undefined
  }
}

function isPackage(root: string, path: string): boolean {
  try {
    return manifestOf(root, path).version !== undefined
  } catch {
    return false
  }
}

/** Names of packages that stand between quotes in the scripts of a folder, with or without a path in them. */
function namedIn(folder: string): Set<string> {
  const names = new Set<string>()
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!file.isFile() || !/\.(js|cjs|mjs|ts)$/.test(file.name)) continue
    const path = join(file.parentPath, file.name)
    if (relative(folder, path).startsWith('web/assets/')) continue
    const text = readFileSync(path, 'utf8')
    for (const [, name] of text.matchAll(
      /['"]((?:@[\w.-]+\/)?[a-z\d][\w.-]*)(?:\/[\w./-]*)?['"]/g,
    )) {
      if (name !== undefined) names.add(name)
    }
  }
  return names
}
