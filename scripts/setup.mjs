// @ts-check
// Makes a clone ready to run: system packages, npm packages, native modules, compiled sources. Runs before anything is
// installed, so it uses nothing but Node; with nothing to do it takes some milliseconds.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { assertBundleFits, readBundle } from './setup/bundled.mjs'
import { compile, isCompiled } from './setup/compile.mjs'
import { withLock } from './setup/lock.mjs'
import { installNatives, nativesReady, nativesToCompile } from './setup/native.mjs'
import { installNpmPackages, packagesInstalled } from './setup/packages.mjs'
import { SetupError } from './setup/problem.mjs'
import { openProgress } from './setup/progress.mjs'
import {
  assertHeaders,
  assertNode,
  installPackages,
  missingPackages,
  missingTestPackages,
  nodeHeaders,
} from './setup/system.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))

const LOG_LINES = 12

/**
 * Does what is missing, or ends the process with one line that says what a person has to do.
 *
 * @param {{ serving?: boolean }} options whether what a server will lack is said
 */
export async function setUpOrExit({ serving = false } = {}) {
  const say = openProgress(process.stderr)
  try {
    await setUp(say, serving)
  } catch (error) {
    if (isOfSystem(error)) {
      // Such as a clone that somebody else has updated, and this user may not compile.
      say.note(`set-up cannot work in ${root} (${error.message}): run it as the owner of the clone`)
      process.exit(1)
    }
    if (!(error instanceof SetupError)) throw error
    if (error.log !== undefined) showEnd(error.log)
    say.note(error.log === undefined ? error.message : `${error.message} (${error.log})`)
    process.exit(1)
  }
}

/**
 * @param {unknown} error
 * @returns {error is NodeJS.ErrnoException}
 */
function isOfSystem(error) {
  return (
    error instanceof Error &&
    'code' in error &&
    ['EACCES', 'EPERM', 'EROFS'].includes(String(error.code))
  )
}

/**
 * @param {import('./setup/progress.mjs').Progress} say
 * @param {boolean} serving
 */
async function setUp(say, serving) {
  assertNode()
  const bundle = readBundle(root)
  if (bundle !== undefined) {
    const lacking = assertBundleFits(bundle)
    if (serving) for (const lack of lacking) say.note(lack)
    return
  }
  const testing = process.argv.includes('--tests')
  if (isReady() && !(testing && missingTestPackages().length > 0)) return
  const folder = join(root, '.gitstead-cache')
  mkdirSync(folder, { recursive: true })
  const log = join(folder, 'setup.log')
  const onWait = (/** @type {{ pid: number }} */ { pid }) =>
    say.note(`process ${pid} is setting up this clone, waiting for it`)
  await withLock(join(folder, 'setup.lock'), () => setUpParts({ say, log, testing }), { onWait })
}

function isReady() {
  return (
    missingPackages({ compiling: false }).length === 0 &&
    packagesInstalled(root) &&
    nativesReady(root) &&
    isCompiled(root)
  )
}

/** @param {{ say: import('./setup/progress.mjs').Progress, log: string, testing: boolean }} options */
async function setUpParts(options) {
  writeFileSync(options.log, '')
  if (options.testing) await installTestPackages(options)
  // Asked first, so that whoever must install something sees it at once; again, because npm removes what was built.
  await installSystemPackages(options)
  if (!packagesInstalled(root)) {
    await installNpmPackages(root, options)
    await installSystemPackages(options)
  }
  if (!nativesReady(root)) await installNatives(root, options)
  if (!isCompiled(root)) await compile(root, options)
}

/** @param {{ say: import('./setup/progress.mjs').Progress, log: string }} options */
async function installSystemPackages(options) {
  const compiling = (await nativesToCompile(root)).length > 0
  // Nothing that is installed below brings them.
  const headers = compiling ? nodeHeaders() : undefined
  await installPackages(missingPackages({ compiling }), options)
  if (headers !== undefined) await assertHeaders(headers, options)
}

/**
 * Without the right to install, tests that compare with a missing program are left out, and say so.
 *
 * @param {{ say: import('./setup/progress.mjs').Progress, log: string }} options
 */
async function installTestPackages(options) {
  const missing = missingTestPackages()
  if (process.getuid?.() === 0) return installPackages(missing, options)
  if (missing.length > 0) options.say.note(`some tests are left out without ${missing.join(', ')}`)
}

/** @param {string} log */
function showEnd(log) {
  if (!existsSync(log)) return
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
  process.stderr.write(`${lines.slice(-LOG_LINES).join('\n')}\n`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await setUpOrExit()
