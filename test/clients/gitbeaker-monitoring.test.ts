import { Gitlab } from '@gitbeaker/rest'
import { expect, test } from 'vitest'
import { monitoredProject } from '../monitoring/alerts.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

test('@gitbeaker/rest, unchanged, sets error tracking up and adds images to alerts', async () => {
  const ana = await world.user('ana')
  const api = new Gitlab({ host: world.url, token: ana.token ?? '' })
  const one = await monitoredProject(world, ana, 'watched')
  const made = await api.ErrorTrackingSettings.create(one.id, true, true)
  expect(made).toMatchObject({ active: true, integrated: true })
  expect(await api.ErrorTrackingSettings.show(one.id)).toMatchObject({ active: true })
  const edited = await api.ErrorTrackingSettings.edit(one.id, false, { integrated: true })
  expect(edited.active).toBe(false)
  const key = await api.ErrorTrackingClientKeys.create(one.id)
  const keys = await api.ErrorTrackingClientKeys.all(one.id)
  expect(keys.map((each) => each.public_key)).toContain(key.public_key)

  await one.send({ title: 'disk full' })
  const png = new Blob([new Uint8Array(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))])
  const image = { content: png, filename: 'graph.png' }
  await api.AlertManagement.uploadMetricImage(one.id, 1, image)
  const [shown] = await api.AlertManagement.allMetricImages(one.id, 1)
  expect(shown?.filename).toBe('graph.png')
  const id = shown?.id ?? 0
  await api.AlertManagement.editMetricImage(one.id, 1, id, { urlText: 'the graph' })
  await api.AlertManagement.removeMetricImage(one.id, 1, id)
  expect(await api.AlertManagement.allMetricImages(one.id, 1)).toEqual([])
})
