import { spawn, spawnSync } from 'node:child_process'
import { openSync, readSync, writeSync } from 'node:fs'

/*
 * Runs programs for a test process (run-program.ts), and ends with it: one after the other for one that waits, which asks
 * through one named pipe and is answered through another; several at once for one that goes on meanwhile, by messages.
 */

if (process.send) runAtOnce()
else runInTurn()

function runAtOnce() {
  process.on('disconnect', () => process.exit())
  process.on('message', ({ id, program, args, cwd, env, input }) => {
    const child = spawn(program, args, { cwd, env })
    const stdout = []
    const stderr = []
    let failure
    child.on('error', (error) => {
      failure = error.message
    })
    child.stdout?.on('data', (bytes) => stdout.push(bytes))
    child.stderr?.on('data', (bytes) => stderr.push(bytes))
    child.on('close', (status) => {
      const [out, error] = [Buffer.concat(stdout), Buffer.concat(stderr)]
      process.send?.({ id, status, failure, stdout: out, stderr: error })
    })
    // A program may end without reading what it is given.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

/** So many bytes; undefined when nobody will ask any more. */
function read(input, length) {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; ) {
    const count = readSync(input, bytes, at, length - at, null)
    if (count === 0) return undefined
    at += count
  }
  return bytes
}

function write(output, bytes) {
  for (let at = 0; at < bytes.length; ) at += writeSync(output, bytes, at)
}

function runInTurn() {
  const [, , requests, replies] = process.argv
  const input = openSync(requests, 'r')
  const output = openSync(replies, 'w')
  for (let length = read(input, 4); length; length = read(input, 4)) {
    const asked = JSON.parse(read(input, length.readUInt32BE()))
    const done = spawnSync(asked.program, asked.args, {
      cwd: asked.cwd,
      env: asked.env,
      maxBuffer: asked.maxBuffer,
      input: read(input, asked.inputLength),
    })
    const { status, error } = done
    // Without a program there is neither.
    const texts = [done.stdout ?? Buffer.alloc(0), done.stderr ?? Buffer.alloc(0)]
    const sizes = texts.map((text) => text.length)
    const head = Buffer.from(JSON.stringify({ status, failure: error?.message, sizes }))
    const size = Buffer.alloc(4)
    size.writeUInt32BE(head.length)
    write(output, Buffer.concat([size, head, ...texts]))
  }
}
