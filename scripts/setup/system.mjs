// @ts-check
// What the machine itself must have: a recent Node with its headers, git, and a compiler when something is to be compiled.
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { SetupError } from './problem.mjs'
import { runLogged } from './run.mjs'

const LEAST_MAJOR = 20
/** Before it, `require` does not load modules; `load.mjs` needs that. */
const LEAST_MINOR = 19

/** Refuses a Node that is too old to run Gitstead. */
export function assertNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > LEAST_MAJOR || (major === LEAST_MAJOR && minor >= LEAST_MINOR)) return
  throw new SetupError(`Node ${LEAST_MAJOR}.${LEAST_MINOR} or newer is needed, this is ${version}`)
}

/**
 * @param {string} name
 * @param {string | undefined} path
 */
function onPath(name, path) {
  return (path ?? '').split(delimiter).some((folder) => folder && existsSync(join(folder, name)))
}

/** @param {string} name */
function hasHeader(name) {
  const extra = [process.env.CPATH, process.env.CPLUS_INCLUDE_PATH, process.env.C_INCLUDE_PATH]
  const folders = ['/usr/include', '/usr/local/include'].concat(
    ...extra.map((list) => (list ?? '').split(delimiter).filter(Boolean)),
  )
  return folders.some((folder) => existsSync(join(folder, name)))
}

/**
 * The Debian packages that the machine lacks. Compilers are asked for only where something is to be compiled.
 *
 * @param {{ compiling: boolean, path?: string | undefined, header?: (name: string) => boolean }} options
 */
export function missingPackages({ compiling, path = process.env.PATH, header = hasHeader }) {
  const missing = []
  if (!onPath('git', path)) missing.push('git')
  if (!onPath('bzip2', path)) missing.push('bzip2')
  // What runs programs ends with it all that they have started.
  if (!onPath('perl', path)) missing.push('perl-base')
  if (!compiling) return missing
  if (!onPath('python3', path)) missing.push('python3')
  if (!onPath('make', path)) missing.push('make')
  if (!onPath('g++', path) || !onPath('cc', path)) missing.push('g++')
  if (!onPath('krb5-config', path) || !header('gssapi/gssapi.h')) missing.push('libkrb5-dev')
  if (!header('openssl/ssl.h')) missing.push('libssl-dev')
  return missing
}

/** What tests compare our answers with, and the Debian package that brings each. */
const TEST_PROGRAMS = [
  ['unzip', 'unzip'],
  ['gpg', 'gnupg'],
  ['ssh-keygen', 'openssh-client'],
  ['openssl', 'openssl'],
  ['ldapmodify', 'ldap-utils'],
  ['git-lfs', 'git-lfs'],
  ['prometheus-alertmanager', 'prometheus-alertmanager'],
  ['chromium-headless-shell', 'chromium-headless-shell'],
  // Package managers that no other registry brings.
  ['composer', 'composer'],
  ['go', 'golang-go'],
  ['mvn', 'maven'],
  ['nuget', 'nuget'],
  ['skopeo', 'skopeo'],
  // Containers, with a network in which they find each other by name, and an image that needs no registry.
  ['podman', 'podman'],
  ['crun', 'crun'],
  ['catatonit', 'catatonit'],
  ['busybox', 'busybox-static'],
  ['systemd-analyze', 'systemd'],
]

const TEST_FILES = [
  ['/usr/lib/python3/dist-packages/gitlab', 'python3-gitlab'],
  ['/usr/lib/podman/netavark', 'netavark'],
  ['/usr/lib/podman/aardvark-dns', 'aardvark-dns'],
  // Not on the path of everybody.
  ['/usr/sbin/iptables', 'iptables'],
  ['/usr/sbin/nginx', 'nginx'],
  ['/usr/sbin/slapd', 'slapd'],
  ['/usr/sbin/sshd', 'openssh-server'],
]

/** The Debian packages that the tests use and the machine lacks: programs to compare with, and python-gitlab. */
export function missingTestPackages(path = process.env.PATH) {
  const programs = TEST_PROGRAMS.filter(([program = '']) => !onPath(program, path))
  const files = TEST_FILES.filter(([file = '']) => !existsSync(file))
  return [...programs, ...files].map(([, name = '']) => name)
}

/**
 * Installs what the machine lacks when we may, and otherwise names the one command to run.
 *
 * @param {string[]} packages
 * @param {{ say: import('./progress.mjs').Progress, log: string, uid?: number | undefined }} options
 */
export async function installPackages(packages, { say, log, uid = process.getuid?.() }) {
  if (packages.length === 0) return
  const command = `apt-get install -y ${packages.join(' ')}`
  const root = uid === 0
  if (!root || !onPath('apt-get', process.env.PATH)) {
    throw new SetupError(`missing ${packages.join(', ')}: run \`${root ? '' : 'sudo '}${command}\``)
  }
  say.start(`installing ${packages.join(', ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const lockTimeout = ['-o', 'DPkg::Lock::Timeout=300']
  const install = [...lockTimeout, 'install', '-y', '--no-install-recommends', ...packages]
  // A fresh image has no package lists at all, an old one has lists of packages that are gone.
  if ((await runLogged('apt-get', install, { env, log })) !== 0) {
    await runLogged('apt-get', [...lockTimeout, 'update'], { env, log })
    if ((await runLogged('apt-get', install, { env, log })) !== 0) {
      throw new SetupError(`\`${command}\` failed`, log)
    }
  }
  say.done()
}

/** What an installation that broke off may lack. */
const HEADERS = ['node.h', 'node_api.h', 'v8.h', 'uv.h', 'common.gypi', 'config.gypi']

/** libnode-dev brings the headers of Debian's own Node, which on Debian 12 is 18. */
const OTHER_HEADERS =
  ': take those that came with this Node (libnode-dev has those of the Node of Debian alone)'

/**
 * The folder that holds `include/node` of the running Node, so that no header download is ever tried.
 *
 * @param {{ execPath?: string, version?: string, configured?: string }} options
 */
export function nodeHeaders({
  execPath = process.execPath,
  version = process.version,
  configured = process.env.npm_config_nodedir ?? '',
} = {}) {
  const beside = resolve(dirname(execPath), '..')
  const folders = configured === '' ? [beside] : [beside, configured]
  const found = folders.find((folder) => headerVersion(folder) === version)
  if (found !== undefined) return found
  const other = headerVersion(beside)
  const where = join(beside, 'include/node')
  throw new SetupError(
    other === undefined
      ? `the headers of Node ${version} are missing: ${where} is not there, or not whole. They come with Node's own archives, NodeSource's packages and the node images; npm_config_nodedir may name another folder that has include/node`
      : `${where} holds the headers of Node ${other}, but ${execPath} is ${version}${OTHER_HEADERS}`,
  )
}

/** @param {string} folder */
function headerVersion(folder) {
  const include = join(folder, 'include/node')
  const file = join(include, 'node_version.h')
  if (![file, ...HEADERS.map((name) => join(include, name))].every(existsSync)) return undefined
  const text = readFileSync(file, 'utf8')
  const part = (/** @type {string} */ name) =>
    new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(text)?.[1]
  return `v${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}`
}

/** What nodegit includes, and the package that brings each. */
const INCLUDED = /** @type {const} */ ([
  ['gssapi/gssapi.h', 'libkrb5-dev'],
  ['openssl/ssl.h', 'libssl-dev'],
])

/**
 * Refuses headers that do not compile, such as those of a package whose installation broke off: in a second, where the
 * module that needs them finds out after minutes.
 *
 * @param {string} headers the folder that holds `include/node`
 * @param {{ log: string }} options
 */
export async function assertHeaders(headers, { log }) {
  const folder = join(headers, 'include/node')
  const wanted = [['node.h', "Node's headers"], ...INCLUDED]
  const tried = wanted.map(async ([name = '', owner = '']) => {
    const flags = ['-std=gnu++17', '-fsyntax-only', '-I', folder, '-include', name]
    const code = await runLogged('g++', [...flags, '-x', 'c++', '/dev/null'], { log })
    return code === 0 ? [] : [owner]
  })
  const broken = (await Promise.all(tried)).flat()
  if (broken.length === 0) return
  throw new SetupError(
    `${broken.join(' and ')} cannot be used: install anew what brings them (apt-get install --reinstall)`,
    log,
  )
}

/** The C library and its version: a module built against a newer one does not load on an older one. */
export function libc() {
  if (process.platform !== 'linux') return 'system'
  /** @type {any} */
  const report = process.report.getReport()
  const glibc = report.header?.glibcVersionRuntime
  return glibc === undefined ? 'musl' : `glibc${glibc}`
}
