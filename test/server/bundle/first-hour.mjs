// What somebody does with a bundle that was just unpacked, on a machine with Node and git alone; says what came of it as JSON.
import { execFile, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)
const bundle = '/gitstead/gitstead'
const settings = { GITSTEAD_ENGINE_PROCESSES: '1', GITSTEAD_HOST: '127.0.0.1' }
const env = { ...process.env, ...settings, GIT_CONFIG_NOSYSTEM: '1' }
const begun = performance.now()
const said = {}

function serve(data, port) {
  const server = spawn(bundle, ['serve', '--data', data, '--port', String(port)], { env })
  let text = ''
  const ready = new Promise((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr]) {
      stream.on('data', (chunk) => {
        text += chunk
        if (text.includes('listens on')) resolve()
      })
    }
    server.on('exit', () => reject(new Error(`the server ended: ${text}`)))
  })
  const gone = new Promise((resolve) => server.on('exit', resolve))
  const stop = () => {
    server.kill('SIGTERM')
    return gone
  }
  return { ready, stop }
}

function api(port, token) {
  return async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v4${path}`, {
      method,
      headers: { 'private-token': token, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
}

const git = (...args) => run('git', args, { cwd: '/root/work', env })

const first = serve('/root/data', 8080)
await first.ready
const token = readFileSync('/root/data/root-token', 'utf8').trim()
const call = api(8080, token)
const { id } = await call('POST', '/projects', { name: 'first' })
mkdirSync('/root/work')
await git('init', '-q', '-b', 'main')
await git('config', 'user.name', 'Ana')
await git('config', 'user.email', 'ana@example.com')
writeFileSync('/root/work/hello.txt', 'hello\n')
await git('add', '.')
await git('commit', '-qm', 'first')
await git('push', '-q', `http://root:${token}@127.0.0.1:8080/root/first.git`, 'main')
said.pushedAfter = (performance.now() - begun) / 1000
const actions = [{ action: 'create', file_path: 'side.txt', content: 'side' }]
const commit = { branch: 'side', start_branch: 'main', commit_message: 'side', actions }
await call('POST', `/projects/${id}/repository/commits`, commit)
const request = { source_branch: 'side', target_branch: 'main', title: 'Side' }
const { iid } = await call('POST', `/projects/${id}/merge_requests`, request)
said.merged = (await call('PUT', `/projects/${id}/merge_requests/${iid}/merge`)).state
const page = await fetch('http://127.0.0.1:8080/users/sign_in')
said.page = page.status
const text = await page.text()
said.style = (await fetch(new URL(/href="([^"]+\.css)"/.exec(text)[1], page.url))).status

writeFileSync('/root/passphrase', 'a passphrase of this test\n', { mode: 0o600 })
const sealed = ['--passphrase-file', '/root/passphrase']
await run(
  bundle,
  ['backup', 'create', '--data', '/root/data', '--to', '/root/backups', ...sealed],
  { env },
)
await first.stop()
const from = ['--from', '/root/backups', '--data', '/root/restored', ...sealed]
await run(bundle, ['backup', 'restore', ...from], { env })
const second = serve('/root/restored', 8081)
await second.ready
const tree = await api(8081, token)('GET', `/projects/${id}/repository/tree?ref=main`)
said.restored = tree.map(({ path }) => path)
await second.stop()
process.stdout.write(JSON.stringify(said))
