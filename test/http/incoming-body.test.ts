import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { IncomingBody } from '../../src/http/body/incoming.ts'

test('a body that breaks off before anybody reads it fails its reader, not the process', async () => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => {
    socket.write('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nonly this')
  })
  const [request, response] = await once(server, 'request')
  const body = new IncomingBody(request, response).open({ idleMs: 0, maxBytes: 1000 })
  const gone = new Promise((resolve) => request.once('close', resolve))
  socket.destroy()
  await gone
  await new Promise((resolve) => setImmediate(resolve))
  await expect(text(body)).rejects.toThrow('the connection was closed')
  server.close()
})
