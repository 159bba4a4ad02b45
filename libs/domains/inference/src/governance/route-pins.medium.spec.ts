import { addModel, addRoute } from '../testing/catalog';
import { inferenceService } from '../testing/inference';
import { ModelUsers } from './model-users';
import { RoutePinsQueries } from './route-pins.queries';

const t = inferenceService();

it('pins are counted of a model that comes meanwhile', async () => {
  const route_id = await addRoute(t, 'late');
  jest.spyOn(t.get(ModelUsers), 'templatesCounted').mockImplementationOnce(async () => {
    await addModel(t, 'late', { route_id });
    return new Map([['late', 2]]);
  });
  expect((await t.get(RoutePinsQueries).counts()).get(route_id)).toBe(2);
});
