import type { Migration } from '../migration.ts'

/** What somebody was sent lately is found without looking at the rest of it. */
export const mailsOfADay: Migration = {
  name: '0246-mails-of-a-day',
  sql: `
DROP INDEX sent_notifications_user;
CREATE INDEX sent_notifications_user ON sent_notifications (user_id, created_at);
`,
}
