import { expect, test } from 'vitest';
import { ApiError } from '@/kit/api/errors';
import { expectLoss, hasStatus } from './lostAnswers';

const lost = new ApiError(0, { code: 'offline', message: '' });
const refused = (state: string) =>
  new ApiError(409, { code: 'conflict', message: '', details: { state } });
const fail = (error: ApiError) => () => Promise.reject(error);

test('after a lost answer, the status that was wanted means success', async () => {
  const send = expectLoss(hasStatus('submitted', 'accepted'));
  await expect(send(fail(lost))).rejects.toBe(lost);
  const other = refused('rejected');
  await expect(send(fail(other))).rejects.toBe(other);
  await expect(send(fail(refused('accepted')))).resolves.toBeUndefined();
});

test('without a lost answer, somebody else has done it', async () => {
  const send = expectLoss(hasStatus('submitted'));
  const error = refused('submitted');
  await expect(send(fail(error))).rejects.toBe(error);
});
