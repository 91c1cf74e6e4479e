// @ts-check
// TypeScript to dist/, and only when something in src/ has changed since the last time.
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { makeAssets } from './assets.mjs'
import { bundle, serverParts } from './bundle.mjs'
import { withNode } from './packages.mjs'
import { SetupError } from './problem.mjs'
import { step } from './progress.mjs'
import { replaceFolder } from './replace.mjs'
import { runLogged } from './run.mjs'

/**
 * What the compiled files depend on, by path, size and time of change.
 *
 * @param {string} root
 */
export function sourceFingerprint(root) {
  const hash = createHash('sha256')
  for (const file of [...sources(root), 'tsconfig.json', 'package-lock.json']) {
    const { size, mtimeMs } = statSync(join(root, file))
    hash.update(`${file}\0${size}\0${mtimeMs}\n`)
  }
  // What is made of the sources is part of what these scripts are.
  for (const script of ['assets.mjs', 'bundle.mjs', 'compile.mjs']) {
    hash.update(readFileSync(new URL(script, import.meta.url)))
  }
  return hash.digest('hex')
}

/** @param {string} root */
function sources(root) {
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
}

/** @param {string} root */
export function isCompiled(root) {
  const stamp = join(root, 'dist/.compiled')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceFingerprint(root)
}

/**
 * @param {string} root
 * @param {{ say: import('./progress.mjs').Progress, log: string }} options
 */
export async function compile(root, { say, log }) {
  // Taken before the compiler reads: a file saved meanwhile makes the next start compile again.
  const fingerprint = sourceFingerprint(root)
  await step(say, 'compiling', () =>
    replaceFolder(join(root, 'dist'), async (fresh) => {
      const tsc = join(root, 'node_modules/typescript/bin/tsc')
      // Without a look at the types, which takes ten times as long: that is `npm run types`, before a change is taken in.
      const args = [tsc, '-p', join(root, 'src'), '--outDir', fresh, '--noCheck']
      const options = { cwd: root, env: withNode(), log, dieWithUs: true }
      if ((await runLogged(process.execPath, args, options)) !== 0) {
        throw new SetupError('the sources do not compile', log)
      }
      copyOthers(root, fresh)
      await bundle(fresh, 'server.cjs', serverParts).catch((/** @type {Error} */ { message }) => {
        appendFileSync(log, `${message}\n`)
        throw new SetupError('the server cannot be put into one file', log)
      })
      await makeAssets(root, fresh).catch((/** @type {Error} */ { message }) => {
        appendFileSync(log, `${message}\n`)
        throw new SetupError('the scripts and style of pages cannot be made', log)
      })
      writeFileSync(join(fresh, '.compiled'), fingerprint)
    }),
  )
}

/**
 * The compiler leaves out what is not TypeScript: pages, scripts, hooks.
 *
 * @param {string} root
 * @param {string} out
 */
function copyOthers(root, out) {
  for (const file of sources(root)) {
    if (/\.tsx?$|\.css$|tsconfig\.json$/.test(file)) continue
    const target = join(out, relative('src', file))
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(root, file), target)
  }
}
