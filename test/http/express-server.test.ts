import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { expect, test } from 'vitest'
import { createExpressServer } from '../../src/http/listener/express-server.ts'

test('requests and responses come with the prototypes that Express would set', async () => {
  const web = express()
  const made: [unknown, unknown][] = []
  const seen: [unknown, unknown][] = []
  web.get('/', (request, response) => {
    seen.push([Object.getPrototypeOf(request), Object.getPrototypeOf(response)])
    // What Express adds works, and knows its application.
    response.status(201).json({ path: request.path, knows: request.app === web })
  })
  const server = createExpressServer(web, {})
  server.prependListener('request', (request, response) => {
    made.push([Object.getPrototypeOf(request), Object.getPrototypeOf(response)])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  expect(answer.status).toBe(201)
  expect(await answer.json()).toEqual({ path: '/', knows: true })
  expect(seen).toHaveLength(1)
  expect(seen[0]?.[0]).toBe(made[0]?.[0])
  expect(seen[0]?.[1]).toBe(made[0]?.[1])
  server.close()
})
