// @ts-check
// Makes a clone ready to run: system packages, npm packages, native modules, compiled sources. Runs before anything is
// installed, so it uses nothing but Node; with nothing to do it takes some milliseconds.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { compile, isCompiled } from './setup/compile.mjs'
import { withLock } from './setup/lock.mjs'
import { installNatives, nativesReady, nativesToCompile } from './setup/native.mjs'
import { installNpmPackages, packagesInstalled } from './setup/packages.mjs'
import { SetupError } from './setup/problem.mjs'
import { openProgress } from './setup/progress.mjs'
import {
  assertNode,
  installPackages,
  missingPackages,
  missingTestPackages,
} from './setup/system.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))

const LOG_LINES = 12

/** Does what is missing, or ends the process with one line that says what a person has to do. */
export async function setUpOrExit() {
  const say = openProgress(process.stderr)
  try {
    await setUp(say)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    if (error.log !== undefined) showEnd(error.log)
    say.note(error.log === undefined ? error.message : `${error.message} (${error.log})`)
    process.exit(1)
  }
}

/** @param {import('./setup/progress.mjs').Progress} say */
async function setUp(say) {
  assertNode()
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
  // Asked first, so that whoever must install something hears of it at once; again, because npm removes what was built.
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
  await installPackages(missingPackages({ compiling }), options)
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
