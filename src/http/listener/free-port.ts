import { once } from 'node:events'
import { createServer } from 'node:net'
import { cannotListen } from './cannot-listen.ts'

/** A port of an address that nobody listens on now. */
export async function findFreePort(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening').catch((error) => {
    throw cannotListen(error, { host, port: 0 })
  })
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('there is no free port')
  return address.port
}

/** Whether a port of an address can be listened on now. */
export async function isFreePort(host: string, port: number): Promise<boolean> {
  const server = createServer().listen(port, host)
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (isFree) {
    server.close()
    await once(server, 'close')
  }
  return isFree
}
