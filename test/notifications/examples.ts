import { done, either, examples, type Spot } from '../contract/example.ts'

const custom = { body: { level: 'watch' } }

export const notificationExamples = examples({
  ...either({
    'POST /hooks': { body: { url: 'https://hooks.example/a' } },
    'PUT /hooks/:hook_id': { body: { name: 'changed' } },
    'PUT /hooks/:hook_id/url_variables/:key': { body: { value: 'new' } },
    'PUT /hooks/:hook_id/custom_headers/:key': { path: { key: 'X-One' }, body: { value: '2' } },
    'DELETE /hooks/:hook_id/custom_headers/:key': { path: { key: 'X-One' } },
    'PUT /notification_settings': custom,
  }),
  'PUT /notification_settings': custom,
  'POST P/hooks/:hook_id/test/:trigger': {
    elsewhere: 'reaches out to a server: test/notifications/hooks',
  },
  'POST G/hooks/:hook_id/test/:trigger': {
    elsewhere: 'reaches out to a server: test/notifications/hooks',
  },
  'POST P/hooks/:hook_id/events/:hook_event_id/resend': { elsewhere: 'test/notifications/hooks' },
  'POST G/hooks/:hook_id/events/:hook_event_id/resend': { elsewhere: 'test/notifications/hooks' },
  ...Object.fromEntries(
    ['GET', 'PUT', 'DELETE'].map((method) => [
      `${method} /hooks/:id`,
      {
        by: 'admin',
        ...(method === 'PUT' ? { body: { name: 'changed' } } : {}),
        async prepare({ stage }: Spot) {
          const hook = await done(stage.world.root, 'POST', '/hooks', {
            url: 'https://hooks.example/a',
          })
          return { id: String(hook.id) }
        },
      },
    ]),
  ),
  'POST /hooks/:id': { elsewhere: 'reaches out to a server: test/notifications/hooks' },
  'POST /hooks': { by: 'admin', body: { url: 'https://hooks.example/a' } },
})
