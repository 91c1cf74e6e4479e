import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isThere } from './needed.ts'

const run = promisify(execFile)

export interface Podman {
  /** A program that takes podman's arguments. */
  readonly program: string
  /** An image with a shell and small tools. */
  readonly image: string
  /** As `image`, and it names port 8080. */
  readonly serving: string
  /** Whether containers can be limited here in memory and processes. */
  readonly limits: boolean
  close(): Promise<void>
}

const TOOLS = [
  'sh',
  'cat',
  'dd',
  'echo',
  'env',
  'grep',
  'httpd',
  'ls',
  'mkdir',
  'printf',
  'sleep',
  'tail',
  'test',
  'wget',
]

/**
 * podman with images made of the machine's own busybox, or why it cannot run containers here: not every kernel lets it. That it
 * is installed is the set-up's business, and its absence fails a run in CI.
 */
export async function openPodman(): Promise<Podman | { readonly unable: string }> {
  const installed = await run('podman', ['--version']).then(
    () => true,
    () => false,
  )
  isThere('podman', installed)
  const folder = await mkdtemp(join(tmpdir(), 'podman-'))
  const view = await ownView()
  const program = join(folder, 'podman')
  const podman = (...args: string[]) => run(program, args)
  const image = `localhost/gitstead-test-${process.pid}`
  const serving = `${image}-serving`
  const close = async () => {
    await podman('rmi', '--force', image, serving).catch(() => undefined)
    view?.kill()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await writeSettings(folder, true)
    const enter = view ? `nsenter -t ${view.pid} -m ` : ''
    const settings = `CONTAINERS_CONF='${join(folder, 'containers.conf')}'`
    await writeFile(program, `#!/bin/sh\n${settings} exec ${enter}podman "$@"\n`, { mode: 0o755 })
    const archive = await imageArchive(folder)
    await podman('import', archive, image)
    await podman('import', '--change', 'EXPOSE 8080', archive, serving)
    const limited = ['run', '--rm', '--memory', '64m', '--pids-limit', '20', image, 'sh', '-c', ':']
    const limits = await podman(...limited).then(
      () => true,
      () => false,
    )
    if (!limits) await writeSettings(folder, false)
    await podman('run', '--rm', '--init', image, 'sh', '-c', 'exit 0')
    return { program, image, serving, limits, close }
  } catch (error) {
    await close()
    return { unable: error instanceof Error ? error.message : String(error) }
  }
}

/** A view of the mounts where crun finds one version of control groups: it refuses two at a time, as some kernels have. */
async function ownView(): Promise<ChildProcess | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const script = 'umount /sys/fs/cgroup/unified 2>/dev/null; echo ready; exec sleep 1200'
  const held = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await Promise.race([once(held.stdout, 'data'), once(held, 'exit'), once(held, 'error')])
  return held.exitCode === null ? held : undefined
}

/** Settings that a machine without all rights lets through; not every kernel has control groups for containers. */
async function writeSettings(folder: string, controlGroups: boolean): Promise<void> {
  const { stdout } = await run('sh', ['-c', 'ulimit -Hn'])
  const files = stdout.trim() === 'unlimited' ? '65536' : stdout.trim()
  const lines = [
    '[containers]',
    ...(controlGroups ? [] : ['cgroups = "disabled"']),
    `default_ulimits = ["nofile=${files}:${files}", "nproc=1024:1024"]`,
    '[engine]',
    'events_logger = "file"',
    'cgroup_manager = "cgroupfs"',
  ]
  await writeFile(join(folder, 'containers.conf'), `${lines.join('\n')}\n`)
}

async function imageArchive(folder: string): Promise<string> {
  const bin = join(folder, 'root/bin')
  await mkdir(bin, { recursive: true })
  await mkdir(join(folder, 'root/tmp'))
  await copyFile('/usr/bin/busybox', join(bin, 'busybox')).catch(() =>
    copyFile('/bin/busybox', join(bin, 'busybox')),
  )
  for (const tool of TOOLS) await symlink('busybox', join(bin, tool))
  const archive = join(folder, 'image.tar')
  await run('tar', ['-C', join(folder, 'root'), '-cf', archive, '.'])
  return archive
}
