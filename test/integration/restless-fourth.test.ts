import { takeRandomSteps } from "../support/restless-steps.ts";

takeRandomSteps(4, { copiesAhead: true });
