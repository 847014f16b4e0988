import { testModel } from './test-model.ts';

testModel('limiter');
