// @ts-check
// Built native modules, one folder each, shared by all clones of this user. An entry appears whole or not at all.
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  copyFileSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import { basename, join } from 'node:path'
import { SetupError } from './problem.mjs'
import { replaceFolder } from './replace.mjs'

/**
 * Where built modules are kept: GITSTEAD_CACHE, else the user's cache folder, else (no home, or a read-only one) the clone.
 *
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 */
export function cacheFolder(root, env = process.env) {
  if (env.GITSTEAD_CACHE) return chosen(join(env.GITSTEAD_CACHE, 'native'))
  try {
    return writable(join(env.XDG_CACHE_HOME || join(os.homedir(), '.cache'), 'gitstead/native'))
  } catch {
    return writable(join(root, '.gitstead-cache/native'))
  }
}

/** @param {string} folder */
function chosen(folder) {
  try {
    return writable(folder)
  } catch (error) {
    throw new SetupError(`GITSTEAD_CACHE is no folder to write to (${String(error)})`)
  }
}

/** @param {string} folder */
function writable(folder) {
  mkdirSync(folder, { recursive: true })
  accessSync(folder, constants.W_OK)
  return folder
}

/**
 * The kept file, if its content is what was kept: a disk that filled up or lost power must not give us half a module.
 *
 * @param {string} cache
 * @param {string} key
 * @param {string} file
 */
export function cachedFile(cache, key, file) {
  const path = join(cache, key, file)
  try {
    const { sha256 } = JSON.parse(readFileSync(join(cache, key, 'entry.json'), 'utf8'))
    return sha256 === digest(path) ? path : undefined
  } catch {
    return undefined
  }
}

/**
 * Keeps a built file, and gives the path of the kept one.
 *
 * @param {string} cache
 * @param {string} key
 * @param {string} built
 */
export async function keepBuilt(cache, key, built) {
  const file = basename(built)
  const kept = join(cache, key, file)
  if (cachedFile(cache, key, file) === undefined) {
    await replaceFolder(join(cache, key), (fresh) => {
      mkdirSync(fresh, { recursive: true })
      copyFileSync(built, join(fresh, file))
      writeFileSync(join(fresh, 'entry.json'), `${JSON.stringify({ sha256: digest(built) })}\n`)
    })
  }
  return kept
}

/** @param {string} file */
function digest(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
