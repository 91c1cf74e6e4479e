import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import type { Certificate } from './certificate.ts'

export interface Nginx {
  stop(): Promise<void>
}

/** nginx with TLS on a port of this machine, which hands the places that are named to a server. */
export async function startNginx(
  folder: string,
  {
    cert,
    key,
    port,
    locations,
    maps,
  }: Certificate & { port: number; locations: string; maps: string },
): Promise<Nginx> {
  mkdirSync(folder, { recursive: true })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `  ${name}_temp_path ${folder}/${name};`)
    .join('\n')
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;
${process.geteuid?.() === 0 ? 'user root;' : ''}
pid ${folder}/pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
${temporary}
  ${maps}
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${cert};
    ssl_certificate_key ${key};
${locations}
  }
}
`,
  )
  const args = ['-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf'), '-p', folder]
  const child = spawn('nginx', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: `${process.env.PATH}:/usr/sbin`,
    },
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await listens(port, () => child.exitCode !== null)
  return {
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

async function listens(port: number, hasEnded: () => boolean): Promise<void> {
  for (;;) {
    if (hasEnded()) throw new Error('nginx has ended')
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = createConnection(port, '127.0.0.1', () => resolve(true))
      socket.on('connect', () => socket.destroy())
      socket.on('error', () => resolve(false))
    })
    if (isOpen) return
    await new Promise((wake) => setTimeout(wake, 50))
  }
}
