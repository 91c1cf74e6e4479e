import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { npmPrograms, pythonPrograms } from '../../test/support/package-clients.ts'

const run = promisify(execFile)

/** Another program that serves the same. */
export interface OtherServer {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

async function started(child: ChildProcess, port: number): Promise<OtherServer> {
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; ; tries += 1) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended before it listened`)
    try {
      await (await fetch(`${url}/`)).arrayBuffer()
      break
    } catch (error) {
      if (tries > 200) throw error
      await sleep(100)
    }
  }
  return {
    url,
    port,
    async stop() {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
    },
  }
}

/** nginx on a folder, installed from Debian where the machine lacks it. */
export async function startNginx(folder: string, root: string): Promise<OtherServer> {
  await run('nginx', ['-v']).catch(() => run('apt-get', ['install', '-y', '-q', 'nginx-light']))
  const port = await freePort()
  await mkdir(folder, { recursive: true })
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  )
  const config = join(folder, 'nginx.conf')
  // As Debian sets it up.
  await writeFile(
    config,
    `daemon off; worker_processes auto; user root; pid ${join(folder, 'pid')}; error_log stderr;
     events { worker_connections 768; }
     http { access_log off; sendfile on; tcp_nopush on; ${temp.join(' ')}
       server { listen 127.0.0.1:${port}; root ${root}; } }`,
  )
  return started(spawn('nginx', ['-c', config], { stdio: 'ignore' }), port)
}

/** verdaccio, where everybody may publish; later ones name a dependency by a tag that mirrors lack. */
export async function startVerdaccio(folder: string): Promise<OtherServer> {
  const programs = await npmPrograms('verdaccio@5.20.1')
  const port = await freePort()
  await mkdir(folder, { recursive: true })
  const config = join(folder, 'config.yaml')
  await writeFile(
    config,
    `storage: ${join(folder, 'storage')}
auth: { htpasswd: { file: ${join(folder, 'htpasswd')} } }
uplinks: {}
packages: { '**': { access: $all, publish: $all, unpublish: $all } }
max_body_size: 100mb
userRateLimit: { windowMs: 1000, max: 1000000 }
log: { type: stdout, level: fatal }
`,
  )
  const args = ['--config', config, '--listen', `127.0.0.1:${port}`]
  return started(spawn(join(programs, 'verdaccio'), args, { stdio: 'ignore' }), port)
}

/** pypiserver on a folder of wheels. */
export async function startPypiserver(root: string): Promise<OtherServer> {
  const lib = await pythonPrograms('pypiserver', 'setuptools')
  const port = await freePort()
  const args = ['-m', 'pypiserver', 'run', '-i', '127.0.0.1', '-p', String(port), root]
  const env = { ...process.env, PYTHONPATH: lib }
  return started(spawn('python3', args, { stdio: 'ignore', env }), port)
}
