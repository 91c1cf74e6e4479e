import { spawnSync } from 'node:child_process'
import { openSync, readSync, writeSync } from 'node:fs'

/*
 * Runs one program after the other for a test process, which asks through one named pipe and is answered through
 * another (run-program.ts). Ends with the test process.
 */

const [, , requests, replies] = process.argv
const input = openSync(requests, 'r')
const output = openSync(replies, 'w')

/** So many bytes; undefined when nobody will ask any more. */
function read(length) {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; ) {
    const count = readSync(input, bytes, at, length - at, null)
    if (count === 0) return undefined
    at += count
  }
  return bytes
}

function write(bytes) {
  for (let at = 0; at < bytes.length; ) at += writeSync(output, bytes, at)
}

for (let length = read(4); length; length = read(4)) {
  const asked = JSON.parse(read(length.readUInt32BE()))
  const done = spawnSync(asked.program, asked.args, {
    cwd: asked.cwd,
    env: asked.env,
    maxBuffer: asked.maxBuffer,
    input: read(asked.inputLength),
  })
  const { status, error } = done
  // Without a program there is neither.
  const texts = [done.stdout ?? Buffer.alloc(0), done.stderr ?? Buffer.alloc(0)]
  const sizes = texts.map((text) => text.length)
  const head = Buffer.from(JSON.stringify({ status, failure: error?.message, sizes }))
  const size = Buffer.alloc(4)
  size.writeUInt32BE(head.length)
  write(Buffer.concat([size, head, ...texts]))
}
