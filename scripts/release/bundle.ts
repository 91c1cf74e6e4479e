// One archive that runs with Node and git and nothing else: compiled code, built modules, docs, licences, bill of materials.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { bundleFile } from '../setup/bundled.mjs'
import { NATIVES, thisMachine } from '../setup/native.mjs'
import { licenseTexts, shippedLibraries } from './licenses.ts'
import { loadedPackages, type Shipped, shippedPackages } from './packages.ts'
import { billOfMaterials } from './sbom.ts'

export interface BundleOptions {
  /** The clone, set up. */
  readonly root: string
  /** Where the archive goes. */
  readonly out: string
  readonly say: (text: string) => void
  /** 1 to 9; less takes less time. */
  readonly compression?: number
}

/** What is taken from the clone as it is. */
const files = ['README.md', 'CHANGELOG.md', 'LICENSE', 'docs'] as const
const scripts = ['gitstead', 'gitstead.mjs', 'start.mjs', 'setup.mjs', 'supervise', 'contain']

const natives = new Map(NATIVES.map(({ name, file }) => [`node_modules/${name}`, file]))

/** Makes `gitstead-<version>-<platform>-<arch>-node<major>.tar.gz` and gives its path. */
export function makeBundle({ root, out, say, compression = 9 }: BundleOptions): string {
  const { version } = readManifest(root)
  const machine = thisMachine()
  const [major] = process.versions.node.split('.')
  const name = `gitstead-${version}-${machine.platform}-${machine.arch}-node${major}`
  mkdirSync(out, { recursive: true })
  // Beside the archive, since a temporary folder may be small.
  const place = mkdtempSync(join(out, '.bundle-'))
  try {
    const folder = join(place, name)
    const at = committedAt(root)
    say(`collecting ${name}`)
    for (const file of files) cpSync(join(root, file), join(folder, file), { recursive: true })
    copyScripts(root, folder)
    cpSync(join(root, 'dist'), join(folder, 'dist'), {
      recursive: true,
      filter: (path) => !/\/dist\/(test-parts.*|\.compiled)$/.test(path),
    })
    for (const one of loadedPackages(root)) copyPackage(root, folder, one)
    const packages = shippedPackages(root)
    const libraries = shippedLibraries(root)
    writeFileSync(join(folder, 'LICENSES.txt'), licenseTexts(root, packages, libraries))
    const bom = billOfMaterials(root, { packages, libraries, at })
    writeFileSync(join(folder, 'sbom.cdx.json'), bom)
    writeFileSync(join(folder, 'package.json'), shortManifest(root))
    const facts = { version, commit: commitOf(root), node: process.versions.node, ...machine }
    writeFileSync(join(folder, bundleFile), `${JSON.stringify(facts, null, 2)}\n`)
    symlinkSync('scripts/gitstead', join(folder, 'gitstead'))
    say('packing')
    const archive = join(out, `${name}.tar.gz`)
    pack(folder, archive, { at, compression })
    return archive
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** Writes `SHA256SUMS` beside an archive, for `sha256sum -c`. */
export function writeChecksums(archive: string): string {
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex')
  const path = join(dirname(archive), 'SHA256SUMS')
  writeFileSync(path, `${digest}  ${basename(archive)}\n`)
  return path
}

function copyScripts(root: string, folder: string): void {
  mkdirSync(join(folder, 'scripts'))
  for (const name of [...scripts, 'system-trust']) {
    cpSync(join(root, 'scripts', name), join(folder, 'scripts', name))
  }
  cpSync(join(root, 'scripts/setup'), join(folder, 'scripts/setup'), { recursive: true })
}

/** A package without the packages below it, and without what only compilers and editors read. */
function copyPackage(root: string, folder: string, { path }: Shipped): void {
  const from = join(root, path)
  const built = natives.get(path)
  const isWanted = (file: string) => {
    const below = file.slice(from.length + 1)
    if (below === '') return true
    if (below === 'node_modules' || /\.map$|\.d\.[cm]?ts$/.test(below)) return false
    if (built === undefined) return true
    const wanted = ['lib', 'build/Release', 'package.json']
    if (/^licen[cs]e/i.test(below) || wanted.some((one) => one.startsWith(below))) return true
    return below.startsWith('lib/') || below === `build/Release/${built}`
  }
  cpSync(from, join(folder, path), { recursive: true, filter: isWanted })
}

function pack(folder: string, archive: string, options: { at: Date; compression: number }): void {
  const seconds = Math.floor(options.at.getTime() / 1000)
  const args = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${seconds}`]
  const rights = ['--mode=u+rwX,go+rX,go-w']
  const packer = ['--use-compress-program', `gzip -n -${options.compression}`]
  const what = ['-C', dirname(folder), basename(folder)]
  execFileSync('tar', [...packer, ...args, ...rights, '-cf', archive, ...what], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

interface Manifest {
  readonly version: string
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

function readManifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

/** Without what needs the sources. */
function shortManifest(root: string): string {
  const { scripts, dependencies, devDependencies, ...rest } = {
    devDependencies: {},
    ...readManifest(root),
  }
  return `${JSON.stringify({ ...rest, scripts: { start: scripts.start } }, null, 2)}\n`
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim()
}

function commitOf(root: string): string {
  const isClean = git(root, 'status', '--porcelain') === ''
  return `${git(root, 'rev-parse', 'HEAD')}${isClean ? '' : ' with changes'}`
}

function committedAt(root: string): Date {
  return new Date(git(root, 'log', '-1', '--format=%cI'))
}
