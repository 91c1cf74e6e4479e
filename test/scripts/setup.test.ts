import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cachedFile, cacheFolder, keepBuilt } from '../../scripts/setup/cache.mjs'
import { sourceFingerprint } from '../../scripts/setup/compile.mjs'
import { withLock } from '../../scripts/setup/lock.mjs'
import { nativeKey } from '../../scripts/setup/native.mjs'
import { compileTogether } from '../../scripts/setup/nodegit.mjs'
import { packagesInstalled, sameTree } from '../../scripts/setup/packages.mjs'
import { openProgress } from '../../scripts/setup/progress.mjs'
import { replaceFolder } from '../../scripts/setup/replace.mjs'
import {
  assertHeaders,
  assertNode,
  installPackages,
  missingPackages,
  nodeHeaders,
} from '../../scripts/setup/system.mjs'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitstead-setup-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const silent = openProgress({ write: () => true })
const wanting = (uid: number) =>
  installPackages(['libkrb5-dev', 'make'], { say: silent, log: join(folder, 'log'), uid })

test('the wrappers of nodegit are compiled several at a time, and its other files one by one', () => {
  const build = join(folder, 'build')
  mkdirSync(join(folder, 'src'))
  mkdirSync(build)
  const source = (name: string, text: string) => writeFileSync(join(folder, 'src', name), text)
  source('nodegit_wrapper.cc', 'template\n')
  source('context.cc', '#include "../include/context.h"\n')
  const wrappers = Array.from({ length: 10 }, (_, n) => `wrapper_${n}`)
  for (const name of wrappers) source(`${name}.cc`, '#include "nodegit_wrapper.cc"\n')
  const objects = ['context', ...wrappers].map((name) => `\t$(obj).target/$(TARGET)/src/${name}.o`)
  const rules = join(build, 'nodegit.target.mk')
  writeFileSync(rules, `OBJS := \\\n${objects.join(' \\\n')}\n\nall_deps += $(OBJS)\n`)
  compileTogether(folder, build)
  const list = /OBJS := ([\s\S]*?)\n\n/.exec(readFileSync(rules, 'utf8'))?.[1]
  expect(list?.match(/\w+\/\w[\w-]*\.o/g)).toEqual([
    'build/wrappers-0.o',
    'build/wrappers-1.o',
    'src/context.o',
  ])
  const together = ['0', '1'].map((n) => readFileSync(join(build, `wrappers-${n}.cc`), 'utf8'))
  expect(together.map((text) => text.trim().split('\n').length)).toEqual([8, 2])
  expect(together.join('').match(/wrapper_\d/g)).toEqual(wrappers)
  // The second set-up of a clone finds it done.
  compileTogether(folder, build)
  const shared = readFileSync(join(folder, 'src/nodegit_wrapper.cc'), 'utf8')
  expect(shared).toBe('#pragma once\ntemplate\n')
})

describe('what the machine must have', () => {
  test('a Node older than 20.19 is refused by name', () => {
    expect(() => assertNode('20.18.9')).toThrow('Node 20.19 or newer is needed, this is 20.18.9')
    expect(() => assertNode('18.20.0')).toThrow()
    assertNode('20.19.0')
    assertNode('22.0.0')
  })

  test('a machine with nothing on it lacks every package when modules are to be compiled', () => {
    const bare = { path: folder, header: () => false }
    expect(missingPackages({ compiling: true, ...bare })).toEqual([
      'git',
      'bzip2',
      'perl-base',
      'python3',
      'make',
      'g++',
      'libkrb5-dev',
      'libssl-dev',
    ])
    expect(missingPackages({ compiling: false, ...bare })).toEqual(['git', 'bzip2', 'perl-base'])
  })

  test('somebody who is not root reads the one command to run', async () => {
    await expect(wanting(1000)).rejects.toThrow(
      'missing libkrb5-dev, make: run `sudo apt-get install -y libkrb5-dev make`',
    )
  })

  test('headers that are missing or of another version are named', () => {
    const execPath = join(folder, 'bin/node')
    const options = { execPath, version: 'v20.20.2', configured: '' }
    expect(() => nodeHeaders(options)).toThrow(`${join(folder, 'include/node')} is not there`)
    mkdirSync(join(folder, 'include/node'), { recursive: true })
    const header = (patch: number) =>
      writeFileSync(
        join(folder, 'include/node/node_version.h'),
        `#define NODE_MAJOR_VERSION 20\n#define NODE_MINOR_VERSION 20\n#define NODE_PATCH_VERSION ${patch}\n`,
      )
    expect(() => nodeHeaders(options)).toThrow('is not there, or not whole')
    for (const name of ['node.h', 'node_api.h', 'v8.h', 'uv.h', 'common.gypi', 'config.gypi']) {
      writeFileSync(join(folder, 'include/node', name), '')
    }
    header(1)
    expect(() => nodeHeaders(options)).toThrow('holds the headers of Node v20.20.1')
    header(2)
    expect(nodeHeaders(options)).toBe(folder)
  })

  test('headers that do not compile are reported with the package that brings them', async () => {
    const include = join(folder, 'include/node')
    mkdirSync(join(include, 'openssl'), { recursive: true })
    writeFileSync(join(include, 'node.h'), '#include "v8.h"\n')
    writeFileSync(join(include, 'openssl/ssl.h'), 'broken off here')
    const log = join(folder, 'log')
    await expect(assertHeaders(folder, { log })).rejects.toThrow(
      /^Node's headers and (libkrb5-dev and )?libssl-dev cannot be used: install anew/,
    )
    expect(readFileSync(log, 'utf8')).toContain('v8.h: No such file')
  })

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'a set-up that ends by %s takes along what its programs have started',
    async (signal) => {
      const mark = `${800_000 + process.pid}.${signal === 'SIGKILL' ? 1 : 2}`
      const run = JSON.stringify(new URL('../../scripts/setup/run.mjs', import.meta.url).href)
      const options = JSON.stringify({ log: join(folder, 'log'), dieWithUs: true })
      const script = `(await import(${run})).runLogged('sh', ['-c', 'sleep ${mark} & setsid sleep ${mark} & wait'], ${options})`
      const setUp = spawn(process.execPath, ['--input-type=module', '-e', script])
      const sleepers = () =>
        spawnSync('pgrep', ['-x', '-f', `sleep ${mark}`], { encoding: 'utf8' }).stdout
      await expect.poll(() => sleepers().trim().split('\n')).toHaveLength(2)
      setUp.kill(signal)
      await expect.poll(sleepers).toBe('')
    },
  )

  test('set-up on a bare machine ends with one line, before anything is installed', () => {
    const clone = join(folder, 'clone')
    const from = new URL('../../', import.meta.url).pathname
    for (const name of ['scripts', 'package.json', 'package-lock.json']) {
      cpSync(join(from, name), join(clone, name), { recursive: true })
    }
    const result = spawnSync(process.execPath, ['scripts/setup.mjs'], {
      cwd: clone,
      env: { PATH: folder, HOME: folder },
      encoding: 'utf8',
    })
    expect(result.status).toBe(1)
    expect(result.stdout).toBe('')
    expect(result.stderr).toMatch(
      /^gitstead: missing git, bzip2, perl-base, python3, make, g\+\+, libkrb5-dev.*: run `(sudo )?apt-get install -y git .*`\n$/,
    )
    expect(existsSync(join(clone, 'node_modules'))).toBe(false)
  })
})

describe('the cache of native modules', () => {
  const machine = { abi: '115', platform: 'linux', arch: 'x64', libc: 'glibc2.36' }

  test('a key names package, version, ABI, platform, architecture and C library', () => {
    expect(nativeKey('nodegit', '1.2.3', machine)).toBe('nodegit-1.2.3-abi115-linux-x64-glibc2.36')
  })

  test.each([{ abi: '127' }, { platform: 'darwin' }, { arch: 'arm64' }, { libc: 'musl' }])(
    'a machine with another %o has a key of its own',
    (other) => {
      expect(nativeKey('nodegit', '1.2.3', { ...machine, ...other })).not.toBe(
        nativeKey('nodegit', '1.2.3', machine),
      )
    },
  )

  test('GITSTEAD_CACHE comes before XDG_CACHE_HOME', () => {
    const [own, xdg] = [join(folder, 'own'), join(folder, 'xdg')]
    expect(cacheFolder(folder, { GITSTEAD_CACHE: own, XDG_CACHE_HOME: xdg })).toBe(
      join(own, 'native'),
    )
    expect(cacheFolder(folder, { XDG_CACHE_HOME: xdg })).toBe(join(xdg, 'gitstead/native'))
  })

  test('a user whose cache folder can not be made keeps modules in the clone', () => {
    writeFileSync(join(folder, 'file'), '')
    expect(cacheFolder(folder, { XDG_CACHE_HOME: join(folder, 'file') })).toBe(
      join(folder, '.gitstead-cache/native'),
    )
  })

  test('a kept module is given back with its bytes', async () => {
    const built = join(folder, 'some.node')
    writeFileSync(built, 'machine code')
    const kept = await keepBuilt(join(folder, 'cache'), 'key', built)
    expect(readFileSync(kept, 'utf8')).toBe('machine code')
    expect(cachedFile(join(folder, 'cache'), 'key', 'some.node')).toBe(kept)
    expect(cachedFile(join(folder, 'cache'), 'other', 'some.node')).toBeUndefined()
  })

  test('a module that lost its end is not given back, and is replaced', async () => {
    const built = join(folder, 'some.node')
    writeFileSync(built, 'machine code')
    const kept = await keepBuilt(folder, 'key', built)
    writeFileSync(kept, 'machine')
    expect(cachedFile(folder, 'key', 'some.node')).toBeUndefined()
    await keepBuilt(folder, 'key', built)
    expect(readFileSync(kept, 'utf8')).toBe('machine code')
  })

  test('an interruption while keeping leaves no entry, and the next run makes it', async () => {
    const built = join(folder, 'some.node')
    writeFileSync(built, 'machine code')
    mkdirSync(join(folder, 'key.new'))
    writeFileSync(join(folder, 'key.new/some.node'), 'mach')
    expect(cachedFile(folder, 'key', 'some.node')).toBeUndefined()
    await keepBuilt(folder, 'key', built)
    expect(cachedFile(folder, 'key', 'some.node')).toBe(join(folder, 'key/some.node'))
    expect(existsSync(join(folder, 'key.new'))).toBe(false)
  })

  test('a folder whose replacement fails stays as it was', async () => {
    const target = join(folder, 'dist')
    mkdirSync(target)
    writeFileSync(join(target, 'main.js'), 'old')
    const failing = replaceFolder(target, (fresh: string) => {
      mkdirSync(fresh)
      throw new Error('disk full')
    })
    await expect(failing).rejects.toThrow('disk full')
    expect(readFileSync(join(target, 'main.js'), 'utf8')).toBe('old')
  })
})

describe('npm packages', () => {
  const machine = { os: 'linux', cpu: 'x64', libc: 'glibc' }
  const wanted = {
    '': { version: '0.1.0' },
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/a-linux': { version: '1.0.0', optional: true, os: ['linux'], cpu: ['x64'] },
    'node_modules/a-darwin': { version: '1.0.0', optional: true, os: ['darwin'], cpu: ['x64'] },
  }
  const { 'node_modules/a-darwin': _, ...present } = wanted

  test('packages of other platforms need not be there', () => {
    expect(sameTree(wanted, present, machine)).toBe(true)
  })

  test('a missing, another or altered package is noticed', () => {
    const { 'node_modules/a': _a, ...withoutA } = present
    expect(sameTree(wanted, withoutA, machine)).toBe(false)
    const { 'node_modules/a-linux': _l, ...withoutLinux } = present
    expect(sameTree(wanted, withoutLinux, machine)).toBe(false)
    const other = { ...present, 'node_modules/a': { version: '1.0.1', integrity: 'sha512-a' } }
    expect(sameTree(wanted, other, machine)).toBe(false)
    const altered = { ...present, 'node_modules/a': { version: '1.0.0', integrity: 'sha512-b' } }
    expect(sameTree(wanted, altered, machine)).toBe(false)
  })

  test('an install that npm did not finish counts as none', () => {
    mkdirSync(join(folder, 'node_modules/a'), { recursive: true })
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: wanted }))
    expect(packagesInstalled(folder)).toBe(false)
  })
})

describe('the lock', () => {
  const file = () => join(folder, 'deep/setup.lock')
  const held = (holder: object) => {
    mkdirSync(join(folder, 'deep'), { recursive: true })
    writeFileSync(file(), JSON.stringify(holder))
  }
  const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid

  test('two at once run one after the other', async () => {
    const order: string[] = []
    const work = (name: string) => async () => {
      order.push(`${name} in`)
      await new Promise((wake) => setTimeout(wake, 20))
      order.push(`${name} out`)
    }
    await Promise.all([withLock(file(), work('a')), withLock(file(), work('b'))])
    expect(order).toEqual(['a in', 'a out', 'b in', 'b out'])
    expect(existsSync(file())).toBe(false)
  })

  test('a failure gives the lock back', async () => {
    const failing = withLock(file(), () => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    await expect(withLock(file(), async () => 1)).resolves.toBe(1)
  })

  test('a lock whose holder was killed is taken over', async () => {
    held({ pid: deadPid(), host: hostname(), born: '1' })
    await expect(withLock(file(), async () => 'mine')).resolves.toBe('mine')
  })

  test('a lock whose number now belongs to another process is taken over', async () => {
    held({ pid: process.pid, host: hostname(), born: '1' })
    await expect(withLock(file(), async () => 'mine')).resolves.toBe('mine')
  })

  test('a lock with unreadable content is taken over', async () => {
    mkdirSync(join(folder, 'deep'))
    writeFileSync(file(), '{"pid":')
    await expect(withLock(file(), async () => 'mine')).resolves.toBe('mine')
  })

  test('a lock of another machine is waited for, and its holder is named', async () => {
    held({ pid: 7, host: 'elsewhere', born: '1' })
    let work: Promise<unknown> | undefined
    const waited = new Promise((resolve) => {
      work = withLock(file(), async () => 'mine', { onWait: resolve })
    })
    await expect(waited).resolves.toMatchObject({ pid: 7, host: 'elsewhere' })
    rmSync(file())
    await expect(work).resolves.toBe('mine')
  })
})

describe('compiling', () => {
  test('the fingerprint changes with any source, and only then', () => {
    mkdirSync(join(folder, 'src/base'), { recursive: true })
    for (const name of [
      'tsconfig.json',
      'package-lock.json',
      'src/main.ts',
      'src/base/page.html',
    ]) {
      writeFileSync(join(folder, name), '1')
    }
    const first = sourceFingerprint(folder)
    expect(sourceFingerprint(folder)).toBe(first)
    writeFileSync(join(folder, 'src/base/page.html'), '22')
    const second = sourceFingerprint(folder)
    expect(second).not.toBe(first)
    rmSync(join(folder, 'src/base/page.html'))
    expect(sourceFingerprint(folder)).not.toBe(first)
    expect(sourceFingerprint(folder)).not.toBe(second)
  })
})

describe('progress', () => {
  test('a log gets a line at the start, some signs of life and the time it took', () => {
    let time = 0
    let text = ''
    const stream = { write: (part: string) => (text += part) }
    const say = openProgress(stream, { now: () => time, everyMs: 10_000 })
    say.start('building')
    for (; time < 25_000; time += 1000) say.tick('3 of 4 files')
    say.done()
    expect(text.split('\n')).toEqual([
      'gitstead: building …',
      'gitstead: building, 3 of 4 files, 10 s',
      'gitstead: building, 3 of 4 files, 20 s',
      'gitstead: building: done in 25 s',
      '',
    ])
  })
})
