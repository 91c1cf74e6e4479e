import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { callApi } from '../call-api.ts'
import { milliseconds, type Row } from '../measure.ts'
import { type BenchServer, memoryOfAll } from '../server.ts'
import { endJob, type GivenJob, nextJob } from './protocol.ts'

const BYTES = 1024 ** 3
const MEBIBYTE = 1024 * 1024
const ROUNDS = 2

interface Place {
  readonly server: BenchServer
  readonly projectId: number
  readonly runner: string
  readonly folder: string
}

/** A gigabyte up and down, beside the same bytes copied from file to file over plain HTTP on the loopback. */
export async function* benchArtifacts(place: Place): AsyncGenerator<Row> {
  const { server, projectId, runner, folder } = place
  const file = join(folder, 'large.bin')
  await makeFile(file)
  const plain = await plainServer(join(folder, 'plain.bin'))
  const address = plain.address()
  const plainUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
  const times = { up: [] as number[], down: [] as number[], plainUp: [] as number[] }
  const plainDown: number[] = []
  let growth = 0
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      await callApi(server, 'POST', `/projects/${projectId}/pipeline`, { ref: 'one' })
      const job = await nextJob(server, runner)
      const copy = join(folder, 'copy.bin')
      times.plainUp.push(await milliseconds(() => send('PUT', plainUrl, file, {})))
      plainDown.push(await milliseconds(() => receive(plainUrl, {}, copy)))
      await rm(copy)
      const watch = watchMemory(server.pid)
      times.up.push(await milliseconds(() => upload(server, job, file)))
      const down = `${server.url}/api/v4/jobs/${job.id}/artifacts`
      times.down.push(await milliseconds(() => receive(down, { 'JOB-TOKEN': job.token }, copy)))
      growth = Math.max(growth, await watch())
      await rm(copy)
      await endJob(server, job)
    }
  } finally {
    plain.close()
    await rm(file)
  }
  yield besides('artifact of 1 GB up, to a plain copy', times.up, times.plainUp)
  yield besides('artifact of 1 GB down, to a plain copy', times.down, plainDown)
  yield {
    what: 'memory growth of all processes meanwhile',
    ours: `${growth.toFixed(0)} MB`,
    theirs: '',
    value: growth,
    unit: 'MB',
    limit: 64,
  }
}

function besides(what: string, ours: readonly number[], theirs: readonly number[]): Row {
  const [one, other] = [Math.min(...ours), Math.min(...theirs)]
  const seconds = (time: number) => `${(time / 1000).toFixed(2)} s`
  const value = one / other
  return { what, ours: seconds(one), theirs: seconds(other), value, unit: 'x', limit: 1.3 }
}

async function makeFile(path: string): Promise<void> {
  const file = await open(path, 'w')
  const piece = Buffer.alloc(MEBIBYTE)
  for (let at = 0; at < BYTES; at += piece.length) {
    // No two pieces alike, so that nothing can be packed or kept once.
    piece.writeUInt32LE(at / MEBIBYTE, 0)
    await file.write(piece)
  }
  await file.sync()
  await file.close()
}

/** Writes what is sent into a file, made safe as ours is, and sends it again. */
async function plainServer(path: string): Promise<Server> {
  const server = createServer((asked, answer) => {
    if (asked.method === 'GET') return void pipeline(createReadStream(path), answer)
    const written = createWriteStream(path, { flush: true })
    void pipeline(asked, written).then(() => answer.end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function asked(
  method: string,
  url: string,
  headers: Readonly<Record<string, string | number>>,
): { readonly out: ReturnType<typeof request>; readonly answer: Promise<IncomingMessage> } {
  const out = request(url, { method, headers })
  const answer = once(out, 'response').then(([message]) => message as IncomingMessage)
  return { out, answer }
}

async function send(
  method: string,
  url: string,
  file: string,
  headers: Readonly<Record<string, string | number>>,
  around: { readonly head: string; readonly tail: string } = { head: '', tail: '' },
): Promise<void> {
  const length = BYTES + Buffer.byteLength(around.head) + Buffer.byteLength(around.tail)
  const { out, answer } = asked(method, url, { ...headers, 'Content-Length': length })
  out.write(around.head)
  await pipeline(
    createReadStream(file, { highWaterMark: MEBIBYTE }),
    new PassThrough(),
    async (bytes) => {
      for await (const chunk of bytes) if (!out.write(chunk)) await once(out, 'drain')
    },
  )
  out.end(around.tail)
  const message = await answer
  message.resume()
  await once(message, 'end')
  if ((message.statusCode ?? 500) >= 300) throw new Error(`${url}: ${message.statusCode}`)
}

async function upload(server: BenchServer, job: GivenJob, file: string): Promise<void> {
  // As long as that of stock runners: the search for its end takes longer the shorter it is.
  const boundary = randomBytes(30).toString('hex')
  const disposition = 'Content-Disposition: form-data; name="file"; filename="large.bin"'
  await send(
    'POST',
    `${server.url}/api/v4/jobs/${job.id}/artifacts?artifact_type=archive&artifact_format=raw`,
    file,
    { 'JOB-TOKEN': job.token, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    {
      head: `--${boundary}\r\n${disposition}\r\nContent-Type: application/octet-stream\r\n\r\n`,
      tail: `\r\n--${boundary}--\r\n`,
    },
  )
}

async function receive(
  url: string,
  headers: Readonly<Record<string, string>>,
  file: string,
): Promise<void> {
  const { out, answer } = asked('GET', url, headers)
  out.end()
  const message = await answer
  if (message.statusCode !== 200) throw new Error(`${url}: ${message.statusCode}`)
  await pipeline(message, createWriteStream(file))
}

/** The most memory beyond what there was, in megabytes, until asked. */
function watchMemory(pid: number): () => Promise<number> {
  const before = memoryOfAll(pid)
  let most = before
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, memoryOfAll(pid))
      await sleep(50)
    }
  })()
  return async () => {
    isOver = true
    await watching
    return (most - before) / MEBIBYTE
  }
}
