import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type MetricImageRow = RowOf<'alert_metric_images'>

export function listMetricImages(db: Db, alertId: number, page: OffsetPage) {
  const query = db.selectFrom('alert_metric_images').selectAll().where('alert_id', '=', alertId)
  return listPage(db, query.orderBy('id'), page)
}

/** All images of an alert, up to so many. */
export function listImagesOf(db: Db, alertId: number, most: number): Promise<MetricImageRow[]> {
  const query = db.selectFrom('alert_metric_images').selectAll().where('alert_id', '=', alertId)
  return query.orderBy('id').limit(most).execute()
}

export function findMetricImage(db: Db, alertId: number, id: number) {
  return db
    .selectFrom('alert_metric_images')
    .selectAll()
    .where('alert_id', '=', alertId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function findImageBySecret(db: Db, projectId: number, secret: string) {
  return db
    .selectFrom('alert_metric_images')
    .innerJoin('alerts', 'alerts.id', 'alert_metric_images.alert_id')
    .selectAll('alert_metric_images')
    .where('alerts.project_id', '=', projectId)
    .where('alert_metric_images.secret', '=', secret)
    .executeTakeFirst()
}

export function insertMetricImage(db: Db, image: NewRowOf<'alert_metric_images'>) {
  return db.insertInto('alert_metric_images').values(image).returningAll().executeTakeFirstOrThrow()
}

export function updateMetricImage(db: Db, id: number, changes: ChangesOf<'alert_metric_images'>) {
  return db
    .updateTable('alert_metric_images')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteMetricImage(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('alert_metric_images').where('id', '=', id))
}
