import { journeysInTheWorkshop } from "../lab";

journeysInTheWorkshop();
