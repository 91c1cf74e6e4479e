// @ts-check
// The two native modules: from this user's cache, or compiled from the sources that npm unpacked. Nothing is downloaded.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { cachedFile, cacheFolder, keepBuilt } from './cache.mjs'
import { withLock } from './lock.mjs'
import { compileTogether } from './nodegit.mjs'
import { withNode } from './packages.mjs'
import { SetupError } from './problem.mjs'
import { step } from './progress.mjs'
import { replaceFolder } from './replace.mjs'
import { runLogged } from './run.mjs'
import { libc, nodeHeaders } from './system.mjs'

/** @typedef {{ name: string, file: string }} Native */

/** @type {readonly Native[]} */
export const NATIVES = [
  { name: 'better-sqlite3', file: 'better_sqlite3.node' },
  { name: 'nodegit', file: 'nodegit.node' },
]

// The compiler takes about this much for the largest files of nodegit.
const BYTES_PER_JOB = 512 * 1024 * 1024

/**
 * Everything that a built module depends on; two machines or versions that differ in any of it share no build.
 *
 * @param {string} name
 * @param {string} version
 * @param {{ abi: string, platform: string, arch: string, libc: string }} machine
 */
export function nativeKey(name, version, machine = thisMachine()) {
  return [name, version, `abi${machine.abi}`, machine.platform, machine.arch, machine.libc].join(
    '-',
  )
}

export function thisMachine() {
  const { platform, arch, versions } = process
  return { abi: versions.modules, platform, arch, libc: libc() }
}

/**
 * Where one native module stands in a clone.
 *
 * @param {string} root
 * @param {Native} native
 */
function place(root, { name, file }) {
  const folder = join(root, 'node_modules', name)
  const build = join(folder, 'build')
  const key = nativeKey(name, versionOf(root, name))
  return { name, file, folder, build, key, built: join(build, 'Release', file) }
}

/**
 * The version that is installed, or that is going to be.
 *
 * @param {string} root
 * @param {string} name
 */
function versionOf(root, name) {
  const read = (/** @type {string} */ file) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const installed = `node_modules/${name}/package.json`
  if (existsSync(join(root, installed))) return read(installed).version
  return read('package-lock.json').packages[`node_modules/${name}`].version
}

/** @typedef {ReturnType<typeof place>} Place */

/** @param {string} root */
export function nativesReady(root) {
  return NATIVES.every((native) => isReady(place(root, native)))
}

/** @param {Place} at */
function isReady({ build, built, key }) {
  return existsSync(built) && readKey(join(build, 'ready.json')) === key
}

/** @param {string} file */
function readKey(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).key
  } catch {
    return undefined
  }
}

/**
 * The modules that only a compiler can provide: not in place, not in the cache, or not loading on this machine.
 *
 * @param {string} root
 */
export async function nativesToCompile(root) {
  if (nativesReady(root)) return []
  const cache = cacheFolder(root)
  const names = []
  for (const native of NATIVES) {
    const at = place(root, native)
    if (!isReady(at) && (await source(at, cache)) === undefined) names.push(native.name)
  }
  return names
}

/**
 * A built file that can be taken as it is: the cache's, or one that was built in place by other means.
 *
 * @param {Place} at
 * @param {string} cache
 */
async function source(at, cache) {
  const cached = cachedFile(cache, at.key, at.file)
  if (cached !== undefined && (await loads(cached))) return cached
  if (existsSync(at.built) && (await loads(at.built))) return at.built
  return undefined
}

/**
 * Tried in a process of its own, since a module that does not fit may take the process with it.
 *
 * @param {string} file
 * @returns {Promise<boolean>}
 */
function loads(file) {
  const script = `require(${JSON.stringify(file)})`
  return new Promise((resolve) => {
    execFile(process.execPath, ['-e', script], (error) => resolve(error === null))
  })
}

/**
 * Puts all modules in place, at the same time: the one large file of SQLite keeps a single core busy for a minute.
 *
 * @param {string} root
 * @param {{ say: import('./progress.mjs').Progress, log: string }} options
 */
export async function installNatives(root, { say, log }) {
  const cache = cacheFolder(root)
  const places = NATIVES.map((native) => place(root, native)).filter((at) => !isReady(at))
  const names = places.map((at) => at.name).join(' and ')
  await step(say, `native modules ${names}`, async (detail) => {
    const done = new Map()
    const results = await Promise.allSettled(
      places.map((at) => {
        const say = (/** @type {string} */ text) => {
          done.set(at.name, `${at.name} ${text}`)
          detail([...done.values()].join(', '))
        }
        // Two clones that need the same module compile it once: the second waits and takes the first one's.
        const onWait = (/** @type {{ pid: number }} */ { pid }) =>
          say(`is being built by process ${pid}`)
        const work = () => installOne(at, cache, { say, log })
        return withLock(join(cache, `${at.key}.lock`), work, { onWait })
      }),
    )
    for (const result of results) if (result.status === 'rejected') throw result.reason
  })
}

/**
 * @param {Place} at
 * @param {string} cache
 * @param {{ say: (text: string) => void, log: string }} options
 */
async function installOne(at, cache, { say, log }) {
  const found = await source(at, cache)
  if (found === undefined) {
    await build(at, { say, log })
    if (!(await loads(at.built)))
      throw new SetupError(`${at.name} was built but does not load`, log)
  }
  const kept = await keepBuilt(cache, at.key, found ?? at.built)
  // The objects of the build are of no more use and take a hundred megabytes.
  await replaceFolder(at.build, (fresh) => {
    mkdirSync(join(fresh, 'Release'), { recursive: true })
    writeFileSync(join(fresh, 'Release', at.file), readFileSync(kept))
    writeFileSync(join(fresh, 'ready.json'), `${JSON.stringify({ key: at.key })}\n`)
  })
}

/**
 * Compiles a module where npm unpacked it. What an interrupted build has compiled is used by the next one.
 *
 * @param {Place} at
 * @param {{ say: (text: string) => void, log: string }} options
 */
async function build(at, { say, log }) {
  const headers = nodeHeaders()
  const resumed = readKey(join(at.build, 'configured.json')) === at.key
  if (!resumed) await configure(at, headers, log)
  if ((await make(at, { say, log })) === 0) return
  if (resumed) {
    await configure(at, headers, log)
    if ((await make(at, { say, log })) === 0) return
  }
  throw new SetupError(`${at.name} did not compile`, log)
}

/**
 * @param {Place} at
 * @param {string} headers
 * @param {string} log
 */
async function configure(at, headers, log) {
  rmSync(at.build, { recursive: true, force: true })
  const gyp = join(at.folder, '../node-gyp/bin/node-gyp.js')
  const code = await runLogged(
    process.execPath,
    [gyp, 'configure', '--release', `--nodedir=${headers}`],
    { cwd: at.folder, env: buildEnv(), log, dieWithUs: true },
  )
  if (code !== 0) throw new SetupError(`${at.name} could not be configured`, log)
  if (at.name === 'nodegit') compileTogether(at.folder, at.build)
  writeFileSync(join(at.build, 'configured.json'), `${JSON.stringify({ key: at.key })}\n`)
}

/**
 * @param {Place} at
 * @param {{ say: (text: string) => void, log: string }} options
 */
async function make(at, { say, log }) {
  const { total, done } = objectCount(at.build)
  let compiled = done
  return await runLogged('make', ['BUILDTYPE=Release', '-C', 'build', `-j${jobs()}`], {
    cwd: at.folder,
    env: buildEnv(),
    log,
    dieWithUs: true,
    onLine(line) {
      if (/^\s*(CC|CXX)\(target\)/.test(line)) compiled += 1
      say(`${Math.min(compiled, total)} of ${total} files`)
    },
  })
}

/** Without the switches by which the packages' own scripts would be led to other sources or headers. */
function buildEnv() {
  const env = withNode()
  for (const name of Object.keys(env)) if (/^npm_config_/i.test(name)) delete env[name]
  return env
}

/** All cores, unless the machine has too little memory for that many compilers. */
function jobs() {
  return Math.max(1, Math.min(os.availableParallelism(), Math.floor(os.totalmem() / BYTES_PER_JOB)))
}

/**
 * How many files a configured build compiles, and how many an earlier run has compiled already.
 *
 * @param {string} build
 */
function objectCount(build) {
  const files = readdirSync(build, { recursive: true }).map(String)
  const objects = new Set()
  for (const file of files.filter((name) => name.endsWith('.target.mk'))) {
    const text = readFileSync(join(build, file), 'utf8')
    for (const [name] of text.matchAll(/\$\(obj\)\.target\/\S+\.o\b/g))
      objects.add(`${file} ${name}`)
  }
  return { total: objects.size, done: files.filter((name) => name.endsWith('.o')).length }
}
