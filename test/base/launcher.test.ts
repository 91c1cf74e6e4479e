import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { launcher } from '../../src/base/launcher/launcher.ts'
import type { ToLauncher } from '../../src/base/launcher/messages.ts'
import { LaunchError, type ProgramCommand, startProgram } from '../../src/base/launcher/program.ts'
import { startChild } from '../support/child.ts'

const env = { PATH: process.env.PATH ?? '' }
const start = (program: string, ...args: string[]) => startProgram({ program, args, env })
const shell = (script: string, more: Partial<ProgramCommand> = {}) =>
  startProgram({ program: 'sh', args: ['-c', script], env, ...more })

function isThere(pid: number): boolean {
  return /^\d+ \(.*\) [^ZX]/.test(readStat(pid))
}

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}

async function launcherPid(): Promise<number> {
  const path = await launcher.whenReady()
  const found = execFileSync('pgrep', ['-f', `launcher-process.* ${path}$`]).toString()
  return Number(found)
}

test('a program gets what is written at once, and its output and end come back', async () => {
  const bytes = Buffer.alloc(3 * 1024 * 1024, 'gitstead')
  const program = start('cat')
  program.stdin.write(bytes)
  program.stdin.end('end')
  const read = await buffer(program.stdout)
  expect(read.equals(Buffer.concat([bytes, Buffer.from('end')]))).toBe(true)
  expect(await program.closed).toEqual({ code: 0, signal: null })
})

test('what it says on standard error, its folder, environment and exit code are its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-launcher-test-'))
  const program = shell('pwd; echo "$WORD" >&2; exit 7', {
    cwd: folder,
    env: { ...env, WORD: 'w' },
  })
  program.stdin.end()
  const [out, err, end] = await Promise.all([
    text(program.stdout),
    text(program.stderr),
    program.closed,
  ])
  expect([out, err, end]).toEqual([`${folder}\n`, 'w\n', { code: 7, signal: null }])
  rmSync(folder, { recursive: true })
})

test('two more ends are read and written as a program expects, which waits for them', async () => {
  const program = startProgram({
    program: 'sh',
    args: ['-c', 'echo asked >&3; read answer <&4; echo "$answer"'],
    env,
    extra: true,
  })
  program.stdin.end()
  program.extra.from.once('data', (chunk: Buffer) => program.extra.to.write(`to ${chunk}`))
  expect(await text(program.stdout)).toBe('to asked\n')
  expect(await program.closed).toEqual({ code: 0, signal: null })
})

test('nobody needs to read what it writes for its end to be heard', async () => {
  const program = shell('head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2')
  program.stdout.once('data', () => {})
  program.stderr.resume()
  expect(await program.closed).toEqual({ code: 0, signal: null })
})

test('one that closes its input early, or ends without reading it, holds up nobody who writes', async () => {
  const program = start('true')
  const closed = new Promise((resolve) => program.stdin.once('close', resolve))
  for (let n = 0; n < 64; n += 1) program.stdin.write(Buffer.alloc(65_536))
  expect(await program.closed).toEqual({ code: 0, signal: null })
  await closed
})

test.each([
  ['a program that is not there', { program: 'no-such-program-at-all' }],
  ['a folder that is not there', { cwd: '/no-such-folder-at-all' }],
])('%s is told as the system does, and its ends end', async (_, more) => {
  const program = startProgram({ program: 'cat', args: [], env, ...more })
  expect(await text(program.stdout)).toBe('')
  const error = await program.closed.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(LaunchError)
  expect(error).toMatchObject({ code: 'ENOENT' })
  await expect(program.pid).rejects.toMatchObject({ code: 'ENOENT' })
})

test('more arguments than the system takes are refused, and the next program starts', async () => {
  const program = start('true', 'x'.repeat(4 * 1024 * 1024))
  await expect(program.closed).rejects.toMatchObject({ code: 'E2BIG' })
  const next = start('true')
  expect(await next.closed).toEqual({ code: 0, signal: null })
})

test('a signal ends it, also before it runs; one after its end goes to nobody', async () => {
  const early = start('sleep', '60')
  early.kill('SIGKILL')
  expect(await early.closed).toEqual({ code: null, signal: 'SIGKILL' })
  const late = start('sleep', '60')
  await late.pid
  late.kill('SIGTERM')
  expect(await late.closed).toEqual({ code: null, signal: 'SIGTERM' })
  late.kill('SIGKILL')
})

test('whoever goes away at once, from its input or its output, holds up nobody', async () => {
  const unfed = start('cat')
  unfed.stdin.destroy()
  expect(await unfed.closed).toEqual({ code: 0, signal: null })
  for (const wait of [0, 1, 2]) {
    const unread = start('cat')
    await sleep(wait)
    unread.stdout.destroy()
    unread.kill('SIGKILL')
    await unread.closed.catch((error: LaunchError) => expect(error.code).toBe('ECANCELED'))
  }
})

test('when one end is closed before the last has come, the program does not start, and the last is closed', async () => {
  const path = await launcher.whenReady()
  const connection = (message: ToLauncher) => {
    const socket = connect({ path, allowHalfOpen: true })
    socket.write(`${JSON.stringify(message)}\n`)
    return socket
  }
  const id = 'closed-before-the-last'
  const asked = { program: 'cat', args: [], cwd: undefined, env, ends: 3, detached: false }
  const control = connection({ id, ...asked })
  const stdin = connection({ id, end: 0 })
  const fromStdin = text(stdin)
  connection({ id, end: 1 }).end()
  const told = String(await once(control, 'data'))
  expect(JSON.parse(told)).toEqual({ failed: 'an end was closed', errno: 'ECANCELED' })
  const stderr = connection({ id, end: 2 })
  expect([await fromStdin, await text(stderr)]).toEqual(['', ''])
  for (const socket of [control, stdin, stderr]) socket.destroy()
})

test('one that is killed while its reader pauses closes, too', async () => {
  const program = start('cat', '/dev/zero')
  program.stdout.once('data', () => program.stdout.pause())
  await program.pid
  await sleep(100)
  program.kill('SIGKILL')
  expect(await program.closed).toEqual({ code: null, signal: 'SIGKILL' })
})

test('a signal to its group ends what it has started, too', async () => {
  const program = shell('sleep 60 & echo $!; wait', { detached: true })
  const inner = await new Promise<number>((resolve) =>
    program.stdout.once('data', (chunk: Buffer) => resolve(Number(chunk))),
  )
  program.kill('SIGKILL', 'group')
  expect(await program.closed).toEqual({ code: null, signal: 'SIGKILL' })
  await expect.poll(() => isThere(inner)).toBe(false)
})

test('many start at once, each with ends of its own', async () => {
  const programs = Array.from({ length: 60 }, (_, n) => shell(`cat; echo ${n}`))
  for (const [n, program] of programs.entries()) program.stdin.end(`${n} `)
  const texts = await Promise.all(programs.map(({ stdout }) => text(stdout)))
  expect(texts).toEqual(programs.map((_, n) => `${n} ${n}\n`))
})

test('nobody else may reach the launcher', async () => {
  const path = await launcher.whenReady()
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
})

test('a launcher whose server ends before it has started ends, too, and leaves no folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-launcher-test-'))
  const file = new URL('../../dist/base/launcher/launcher-process.js', import.meta.url)
  const child = fork(file, [join(folder, 'socket')], { execArgv: [] })
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(existsSync(folder)).toBe(false)
})

test('when the launcher is killed, what it had started ends, and a new one starts the next', async () => {
  const running = start('sleep', '60')
  const pid = await running.pid
  const first = await launcherPid()
  process.kill(first, 'SIGKILL')
  await expect(running.closed).rejects.toBeInstanceOf(LaunchError)
  await expect.poll(() => isThere(pid)).toBe(false)
  // Whoever asked in that very moment hears that it did not start.
  const next = () => start('true').closed.catch((error: LaunchError) => error.code)
  await expect.poll(next).toEqual({ code: 0, signal: null })
  expect(await launcherPid()).not.toBe(first)
})

test('it ends with the process that it belongs to, however that ends, and its folder goes', async () => {
  const child = startChild(new URL('launcher-child.mjs', import.meta.url))
  const { value } = await child.lines.next()
  const [pid = '', path = ''] = String(value).split(' ')
  expect(existsSync(path)).toBe(true)
  await child.kill()
  await expect.poll(() => [isThere(Number(pid)), existsSync(dirname(path))]).toEqual([false, false])
})

test('the folder of one that was killed with its server goes at the next start', async () => {
  const child = startChild(new URL('launcher-child.mjs', import.meta.url))
  const { value } = await child.lines.next()
  const [pid = '', path = ''] = String(value).split(' ')
  process.kill(Number(pid), 'SIGSTOP')
  await child.kill()
  process.kill(Number(pid), 'SIGKILL')
  expect(existsSync(dirname(path))).toBe(true)
  const next = startChild(new URL('launcher-child.mjs', import.meta.url))
  await next.lines.next()
  expect(existsSync(dirname(path))).toBe(false)
  await next.kill()
})
