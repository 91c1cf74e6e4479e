import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { Caller } from '../support/world.ts'
import { publishNpm, putGeneric, putMaven, uploadPypi } from './publishing.ts'

const TOKEN = 'root-token-of-this-test'
const folder = newFolder()
let server: ServerProcess | undefined
afterAll(() => {
  server?.process.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const callerOf = (url: string) => new Caller(url, TOKEN, 1, 'root')

test('SIGKILL amid uploads loses no version that was acknowledged, shows no half one, and leaves nothing behind', async () => {
  server = await startServerProcess(folder)
  let root = callerOf(server.url)
  const { id } = await createProject(root, 'stormy')
  const at = `/projects/${id}/packages`
  // One that will never be whole.
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {})
  socket.write(
    `PUT /api/v4${at}/generic/half/1/f HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: ${TOKEN}\r\nContent-Length: 9999\r\n\r\nonly this`,
  )
  const temporary = () => readdirSync(join(folder, 'files', 'tmp'))
  await expect.poll(() => temporary().length).toBeGreaterThan(0)
  const acknowledged: string[] = []
  let count = 0
  const storm = async (publish: (version: string) => Promise<{ readonly status: number }>) => {
    for (;;) {
      count += 1
      const version = `1.0.${count}`
      try {
        if ((await publish(version)).status < 300) acknowledged.push(version)
      } catch {
        return
      }
    }
  }
  const storms = [
    storm((version) => putGeneric(root, at, `tool/${version}/f`, version)),
    storm((version) => putMaven(root, at, `com/x/tool/${version}/tool-${version}.jar`, version)),
    storm((version) => publishNpm(root, at, 'tool', version)),
    storm((version) => uploadPypi(root, at, { name: 'tool', version })),
  ]
  await expect.poll(() => acknowledged.length).toBeGreaterThan(12)
  const gone = once(server.process, 'exit')
  server.process.kill('SIGKILL')
  await gone
  await Promise.all(storms)

  server = await startServerProcess(folder)
  root = callerOf(server.url)
  expect(temporary()).toEqual([])
  const listed: { readonly id: number; readonly version: string }[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await root.get(`${at}?per_page=100&page=${page}`)
    if (body.length === 0) break
    listed.push(...body)
  }
  const versions = listed.map((one) => one.version)
  expect(acknowledged.filter((version) => !versions.includes(version))).toEqual([])
  expect(new Set(versions).size).toBe(versions.length)
  expect((await root.get(`${at}/generic/half/1/f`)).status).toBe(404)
  for (const one of listed.slice(-12)) {
    const [file] = (await root.get(`${at}/${one.id}/package_files`)).body
    const answer = await fetch(
      `${server.url}/api/v4${at}/${one.id}/package_files/${file.id}/download`,
      { headers: { 'PRIVATE-TOKEN': TOKEN } },
    )
    const hash = createHash('sha256').update(Buffer.from(await answer.arrayBuffer()))
    expect(hash.digest('hex')).toBe(file.file_sha256)
  }
  expect((await putGeneric(root, at, 'half/1/f')).status).toBe(201)
  expect(await server.stop()).toBe(0)
}, 120_000)
