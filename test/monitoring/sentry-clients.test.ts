import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  client,
  npmPrograms,
  openReachableWorld,
  pythonPrograms,
} from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'
import { type Reported, reportedProject } from './errors.ts'

let world: World
let ana: Caller
let folder: string
beforeAll(async () => {
  world = await openReachableWorld()
  ana = await world.user('ana')
  folder = mkdtempSync(join(tmpdir(), 'sentry-'))
})
afterAll(async () => {
  await world?.close()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

/** The one error of a project with its last event. */
async function only(one: Reported) {
  await world.runTasks()
  const errors = (await ana.get(`${one.api}/error_tracking/errors`)).body
  expect(errors).toHaveLength(1)
  const path = `${one.api}/error_tracking/errors/${errors[0].id}`
  return { error: errors[0], event: (await ana.get(`${path}/events/latest`)).body }
}

function written(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

test('the Python SDK reports an exception with its stack', async () => {
  const packages = await pythonPrograms('sentry-sdk')
  const one = await reportedProject(world, ana, 'python')
  const script = written(
    'shop.py',
    `import sentry_sdk
sentry_sdk.init(dsn="${one.dsn}", release="shop@1.0", environment="staging", debug=True)
sentry_sdk.set_user({"id": "7"})
def divide(a, b):
    return a / b
divide(1, 0)
`,
  )
  const options = { cwd: folder, env: { PYTHONPATH: packages } }
  await expect(client('python3', [script], options)).rejects.toThrow('ZeroDivisionError')
  const { error, event } = await only(one)
  expect(error).toMatchObject({ type: 'ZeroDivisionError', count: 1, user_count: 1 })
  expect(event).toMatchObject({ environment: 'staging', release: 'shop@1.0' })
  expect(event.stack_trace_entries.at(-1)).toMatchObject({
    filename: 'shop.py',
    function: 'divide',
    lineNo: 5,
  })
  expect(event.stack_trace_entries.at(-1).context).toContainEqual([5, '    return a / b'])
}, 180_000)

test('the Node SDK reports an exception with its stack', async () => {
  const modules = dirname(await npmPrograms('@sentry/node'))
  const one = await reportedProject(world, ana, 'node')
  const script = written(
    'shop.cjs',
    `const Sentry = require(${JSON.stringify(join(modules, '@sentry/node'))})
Sentry.init({ dsn: ${JSON.stringify(one.dsn)}, release: 'shop@1.0' })
function pay() {
  throw new TypeError('no money')
}
pay()
`,
  )
  await expect(client('node', [script], { cwd: folder })).rejects.toThrow('no money')
  const { error, event } = await only(one)
  expect(error).toMatchObject({
    type: 'TypeError',
    message: 'no money',
    culprit: expect.stringMatching(/pay/),
  })
  expect(event.stack_trace_entries.at(-1)).toMatchObject({ function: 'pay', lineNo: 4 })
  expect(event.stack_trace_entries.at(-1).filename).toMatch(/shop\.cjs$/)
}, 180_000)

test('the browser SDK reports what a page throws, across origins', async () => {
  const modules = dirname(await npmPrograms('@sentry/browser'))
  const one = await reportedProject(world, ana, 'browser')
  const source = written(
    'page.js',
    `import * as Sentry from '@sentry/browser'
Sentry.init({ dsn: ${JSON.stringify(one.dsn)}, release: 'page@1.0' })
function buy() {
  throw new RangeError('cart is empty')
}
setTimeout(() => buy(), 0)
setTimeout(() => Sentry.flush(5000).then(() => { document.title = 'sent' }), 100)
`,
  )
  const bundle = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    nodePaths: [modules],
    keepNames: true,
  })
  const pages = createServer((request, response) => {
    const isScript = request.url?.endsWith('.js')
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? bundle.outputFiles[0]?.text : '<script src="/page.js"></script>')
  })
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
  // What listens on a port has an address that is no text.
  const { port } = pages.address() as AddressInfo
  try {
    const options = ['--no-sandbox', '--disable-gpu', `--user-data-dir=${join(folder, 'profile')}`]
    await promisify(execFile)(
      'chromium-headless-shell',
      [
        ...options,
        '--timeout=8000',
        '--virtual-time-budget=8000',
        '--dump-dom',
        `http://localhost:${port}/`,
      ],
      { timeout: 60_000, env: { ...process.env, HOME: folder } },
    )
  } finally {
    pages.close()
  }
  const { error, event } = await only(one)
  expect(error).toMatchObject({ type: 'RangeError', message: 'cart is empty' })
  expect(event.stack_trace_entries.at(-1)).toMatchObject({
    filename: `http://localhost:${port}/page.js`,
  })
  expect(event.stack_trace_entries.at(-1).lineNo).toBeGreaterThan(0)
}, 180_000)
