// @ts-check
// The npm packages, exactly as package-lock.json names them, with no script of theirs ever run.
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { SetupError } from './problem.mjs'
import { step } from './progress.mjs'
import { runLogged } from './run.mjs'

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean, link?: boolean, os?: string[], cpu?: string[], libc?: string[] }} Locked
 * @typedef {{ os: string, cpu: string, libc: string }} Machine
 */

/**
 * Whether node_modules holds what the lock file asks for. npm writes its own record last, so a broken-off install has none.
 *
 * @param {string} root
 */
export function packagesInstalled(root) {
  const record = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(record)) return false
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  return sameTree(wanted, JSON.parse(readFileSync(record, 'utf8')).packages)
}

/**
 * @param {Record<string, Locked>} wanted
 * @param {Record<string, Locked>} present
 * @param {Machine} machine
 */
export function sameTree(wanted, present, machine = thisMachine()) {
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true
    const there = present[path]
    if (there !== undefined) {
      return there.version === entry.version && there.integrity === entry.integrity
    }
    return entry.optional === true && !fits(entry, machine)
  })
}

/** @returns {Machine} */
function thisMachine() {
  const musl = existsSync('/etc/alpine-release')
  return { os: process.platform, cpu: process.arch, libc: musl ? 'musl' : 'glibc' }
}

/**
 * @param {Locked} entry
 * @param {Machine} machine
 */
function fits(entry, machine) {
  const allows = (/** @type {string[] | undefined} */ list, /** @type {string} */ value) =>
    list === undefined || list.includes(value)
  // An optional package without conditions may have been left out by npm for reasons of its own.
  if (entry.os === undefined && entry.cpu === undefined) return false
  return (
    allows(entry.os, machine.os) &&
    allows(entry.cpu, machine.cpu) &&
    allows(entry.libc, machine.libc)
  )
}

/**
 * @param {string} root
 * @param {{ say: import('./progress.mjs').Progress, log: string }} options
 */
export async function installNpmPackages(root, { say, log }) {
  const modules = join(root, 'node_modules')
  if (existsSync(modules) && lstatSync(modules).isSymbolicLink()) {
    // A linked work tree shares another clone's packages; replacing them would pull them from under its feet.
    say.note('node_modules is a link to packages that differ from package-lock.json: left as it is')
    return
  }
  await step(say, 'installing npm packages', async () => {
    const flags = [
      '--ignore-scripts',
      '--include=dev',
      '--include=optional',
      '--no-audit',
      '--no-fund',
    ]
    const [program, first] = npm()
    const code = await runLogged(program, [...first, 'ci', ...flags], {
      cwd: root,
      env: withNode(),
      log,
      dieWithUs: true,
    })
    if (code !== 0) throw new SetupError('npm could not install the packages', log)
  })
}

/** @returns {[string, string[]]} */
function npm() {
  const running = process.env.npm_execpath
  if (running?.endsWith('npm-cli.js')) return [process.execPath, [running]]
  return ['npm', []]
}

/**
 * The environment in which `node` is the Node that runs now.
 *
 * @returns {NodeJS.ProcessEnv}
 */
export function withNode() {
  return {
    ...process.env,
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`,
  }
}
