import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What a system has wherever git runs: a shell, and what scripts of the shell are made of. */
const basics = ['sh', 'env', 'dirname', 'readlink', 'sync']
const git = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim()

/** Fills a folder with Node, git and the shell, each with its libraries, and nothing else. */
export function makeBareMachine(folder: string): void {
  for (const name of ['proc', 'dev', 'tmp', 'root', 'etc', 'usr/bin']) {
    mkdirSync(join(folder, name), { recursive: true })
  }
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  writeFileSync(join(folder, 'etc/hosts'), '127.0.0.1 localhost\n')
  const programs = [...basics, 'git'].map((name) => [whereIs(name), `/usr/bin/${name}`] as const)
  for (const [from, to] of [[process.execPath, '/usr/bin/node'] as const, ...programs]) {
    copyWithLibraries(folder, from, to)
  }
  copyWithLibraries(folder, whereIs('sh'), '/bin/sh')
  for (const name of ['git', 'git-remote-http', 'git-http-backend']) {
    copyWithLibraries(folder, join(git, name), join(git, name))
  }
}

/** Runs a program with such a folder as its root, as the one process tree there, without any network but `lo`. */
export function runInside(folder: string, args: readonly string[]) {
  const script = [
    'busybox ip link set lo up',
    `mount -t proc proc ${folder}/proc`,
    `for one in null zero urandom random; do : > ${folder}/dev/$one; mount --bind /dev/$one ${folder}/dev/$one; done`,
    `exec chroot ${folder} /usr/bin/env -i PATH=/usr/bin HOME=/root "$@"`,
  ].join(' && ')
  const apart = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private']
  return spawnSync('unshare', [...apart, 'sh', '-c', script, 'sh', ...args], {
    encoding: 'utf8',
    timeout: 240_000,
  })
}

function whereIs(name: string): string {
  return execFileSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).trim()
}

function copyWithLibraries(folder: string, from: string, to: string): void {
  const copy = (source: string, target: string) => {
    const path = join(folder, target)
    if (existsSync(path)) return
    mkdirSync(dirname(path), { recursive: true })
    cpSync(source, path, { dereference: true })
  }
  copy(from, to)
  const { stdout } = spawnSync('ldd', [from], { encoding: 'utf8' })
  for (const [, library] of stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)) {
    if (library !== undefined) copy(library, library)
  }
}
