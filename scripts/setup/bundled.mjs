// @ts-check
// A release bundle is ready as it is: all that is to be looked at is whether it fits the machine.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { thisMachine } from './native.mjs'
import { SetupError } from './problem.mjs'
import { missingPackages } from './system.mjs'

/** @typedef {{ version: string, commit: string, node: string, abi: string, platform: string, arch: string, libc: string }} BundleFacts */
/** @typedef {{ node: string, abi: string, platform: string, arch: string, libc: string, path?: string | undefined }} Machine */

/** What a bundle says of itself, beside its package.json. A clone has no such file. */
export const bundleFile = 'bundle.json'

/** What the bundle cannot do without one of the programs that come with nearly every system. */
const uses = {
  'perl-base': 'jobs of the runner',
  bzip2: 'archives as tar.bz2',
}

/**
 * @param {string} root
 * @returns {BundleFacts | undefined}
 */
export function readBundle(root) {
  const path = join(root, bundleFile)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

/**
 * Refuses a machine that cannot run the bundle, and gives what will not work on it.
 *
 * @param {BundleFacts} bundle
 * @param {Machine} machine
 * @returns {string[]}
 */
export function assertBundleFits(
  bundle,
  machine = { ...thisMachine(), node: process.versions.node },
) {
  const name = (/** @type {{ platform: string, arch: string }} */ { platform, arch }) =>
    `${platform} on ${arch}`
  if (name(bundle) !== name(machine)) {
    throw new SetupError(`this bundle is for ${name(bundle)}, this is ${name(machine)}`)
  }
  const [major] = bundle.node.split('.')
  if (bundle.abi !== machine.abi) {
    throw new SetupError(
      `this bundle is for Node ${major}, this is Node ${machine.node}: start it with Node ${major}, or take the bundle for this one`,
    )
  }
  if (!isLibcEnough(bundle.libc, machine.libc)) {
    throw new SetupError(
      `this bundle needs ${bundle.libc} or newer, this is ${machine.libc}: take a bundle that was built on such a system`,
    )
  }
  const missing = missingPackages({ compiling: false, path: machine.path ?? process.env.PATH })
  if (missing.includes('git')) throw new SetupError('git is missing: install it')
  return Object.entries(uses).flatMap(([name, use]) =>
    missing.includes(name) ? [`without ${name} there are no ${use}`] : [],
  )
}

/**
 * @param {string} built
 * @param {string} present
 */
function isLibcEnough(built, present) {
  const [, kind, version = ''] = /^([a-z]+)([\d.]*)$/.exec(present) ?? []
  const [, builtKind, builtVersion = ''] = /^([a-z]+)([\d.]*)$/.exec(built) ?? []
  if (kind !== builtKind) return false
  const numbers = (/** @type {string} */ text) => text.split('.').map(Number)
  const [major = 0, minor = 0] = numbers(version)
  const [leastMajor = 0, leastMinor = 0] = numbers(builtVersion)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}
